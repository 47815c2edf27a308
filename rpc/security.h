// TLS between machines (kj-tls): which connections are protected, who is at their other end, and what ends
// with a certificate.
//
// A role with an identity speaks TLS 1.2 or later, 1.3 where both can, over every TCP connection; Unix
// sockets have permissions and stay as they are. Of a certificate nothing counts but its signature, its time
// and its common name (identity/logic/identity.h).
#pragma once

#include <kj/async-io.h>
#include <kj/timer.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "env/clock.h"
#include "identity/logic/identity.h"
#include "rpc/identity_folder.h"

namespace tarcil {

// Who is expected at an address that is dialled.
struct Expected {
  MemberRole role = MemberRole::kMaster;
  std::string name{};  // that it may be called by; empty: any of the role
};

// What a listening port demands of those who connect.
enum class Demand : uint8_t {
  kCertificate,  // a certificate of this cluster's authority
  kNothing,      // none: whoever it is proves that with a token
  kJoining,  // none; and tells the authority's certificate first, in clear, so that a new machine can compare
             // it with its word
};

// What is known of a peer, as soon as it is.
struct PeerName {
  std::optional<Identity> identity{};
  WallTime until{};               // its certificate is good; of whoever showed one
  std::optional<uint32_t> uid{};  // of its process, as the kernel says; over Unix sockets alone
  std::string address{};          // without the port; empty over Unix sockets
};

// What a process is given to know whom to believe.
struct Trust {
  std::optional<Credentials> credentials{};
  bool insecure = false;  // other machines are reached without TLS where there are no credentials
};

// One per event loop, and as long as that. Single-threaded.
class Security final {
 public:
  // Throws Invalid where OpenSSL refuses the credentials. Without any, and unless `insecure`, nothing is
  // reached over TCP but this machine. `clock` outlives it.
  Security(const Clock& clock, Trust trust);
  ~Security() noexcept(false);
  KJ_DISALLOW_COPY(Security);

  // From now on; connections that stand go on.
  void renew(Credentials credentials);

  // Whether connections over TCP are protected.
  bool speaksTls() const { return contexts_ != nullptr; }
  // Whether connections to the address are.
  bool protects(const std::string& address) const;
  // Whether a peer there knows by our certificate who we are, and is to be told no secret.
  bool isKnownAt(const std::string& address) const;
  // Invalid for an address that others could read what is sent to.
  Status mayUse(const std::string& address) const;
  // Our own; nothing without a certificate.
  const std::optional<Identity>& identity() const { return identity_; }

  struct Dialled {
    kj::Own<kj::AsyncIoStream> stream;
    Identity peer;
    WallTime until{};  // its certificate is good
  };
  // Over a connection to somebody who listens. Fails as DISCONNECTED, and says why, where it is not who is
  // expected.
  kj::Promise<Dialled> dial(kj::Own<kj::AsyncIoStream> stream, const Expected& whom);

  // A connection that was accepted: what is read and written waits for the handshake, of which nothing but
  // the peer bounds the time. `peer` learns who it is before anything is read.
  kj::Own<kj::AsyncIoStream> accept(kj::Own<kj::AsyncIoStream> stream, Demand demand,
                                    std::shared_ptr<PeerName> peer);

  // These, and no others, are revoked from now on: whoever showed one is disconnected.
  void setRevoked(const std::vector<uint64_t>& serials);
  bool isRevoked(const Identity& identity) const { return revoked_.contains(identity.serial); }
  // Fails when the peer's certificate is revoked, or is over by this machine's clock. `timer` outlives the
  // promise.
  kj::Promise<void> untilOver(kj::Timer& timer, const Identity& identity, WallTime until);

 private:
  kj::Promise<void> untilRevoked(const Identity& identity);
  kj::Promise<void> untilExpired(kj::Timer& timer, WallTime until) const;
  struct Contexts;
  struct Standing {
    uint64_t serial;
    kj::Own<kj::PromiseFulfiller<void>> ended;
  };

  kj::Promise<kj::Own<kj::AsyncIoStream>> shakeHands(kj::Own<kj::AsyncIoStream> stream, Demand demand,
                                                     std::shared_ptr<PeerName> peer);
  std::string greeting() const;

  const Clock& clock_;
  const bool insecure_;
  std::optional<Identity> identity_;
  std::string authority_;               // PEM; empty: nothing is protected
  std::unique_ptr<Contexts> contexts_;  // null: nothing is protected
  std::set<uint64_t> revoked_;
  std::vector<Standing> standing_;
};

// What a port that demands kJoining says first.
struct Greeting {
  std::string authority;  // PEM, and not to be believed until it is compared
  WallTime now{};         // by the master's clock; for messages only
};
kj::Promise<Greeting> readGreeting(kj::AsyncIoStream& stream);

// An exception's text for people where it comes from OpenSSL: what is wrong with whose certificate, and what
// to do.
kj::Exception explained(const kj::Exception& exception);

}  // namespace tarcil
