// Peers that have connected and not logged in yet. Anybody can be one, so what they take up is bounded: how
// many there are, how long each may take, and how much is read of each. Once it is known whose connection it
// is, that user's share bounds it (rpc/fair_calls.h).
#pragma once

#include <kj/async-io.h>
#include <kj/refcount.h>

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "rpc/fair_calls.h"
#include "rpc/security.h"
#include "rpc/turns.h"

namespace tarcil {

// A visitor who takes longer is disconnected.
inline constexpr auto kLoginTime = 5 * kj::SECONDS;
// What is read of a visitor; what follows is read once they have logged in.
inline constexpr size_t kMaxVisitorBytes = 64 << 10;
// When one more comes, the one who has been there longest is disconnected. Of one address: Unix sockets have
// permissions, and count only in all.
inline constexpr size_t kMaxVisitors = 1'024;
inline constexpr size_t kMaxVisitorsOfAddress = 256;
// What so many of them have said is dealt with at once, and then what else has come: a thousand may speak in
// one moment, and to log one in takes longer than most calls of those who are in.
inline constexpr size_t kVisitorsAtOnce = 4;
// Of one connection; each is watched for as long as that stands.
inline constexpr size_t kMaxLogins = 100;

// Who has logged in. A role is always there to answer, and is disconnected where it does not
// (rpc/heartbeat.h); a user's command may be waiting for its terminal.
enum class Peer : uint8_t { kUser, kRole };

// A peer before it is let in. Tells that it has logged in, and as which user. May be called more than once,
// of which the first counts, and after the connection has ended; the connection ends as soon as one of the
// logins does (`until` resolves or fails). Throws Exhausted where the user has too many connections, or the
// connection too many logins.
class LetIn final {
 public:
  using Tell = std::function<void(Peer, kj::Maybe<FairCalls::User&>, kj::Promise<void>)>;
  explicit LetIn(Tell tell, std::shared_ptr<const PeerName> peer = std::make_shared<const PeerName>())
      : tell_(std::move(tell)), peer_(std::move(peer)) {}

  void operator()(Peer as, kj::Maybe<FairCalls::User&> user = nullptr,
                  kj::Promise<void> until = kj::NEVER_DONE) const {
    tell_(as, user, kj::mv(until));
  }

  // Whom the peer's certificate is for, from its first call on; nothing where it showed none.
  const std::optional<Identity>& peer() const { return peer_->identity; }
  // As whom the kernel knows the peer; nothing but over Unix sockets.
  std::optional<uint32_t> uid() const { return peer_->uid; }
  // Without the port; empty over Unix sockets.
  const std::string& address() const { return peer_->address; }

 private:
  Tell tell_;
  std::shared_ptr<const PeerName> peer_;
};

// Of a socket's peer, without the port. Empty for Unix sockets, and no address where the peer has left
// already.
std::string addressOf(kj::AsyncIoStream& socket);

// Single-threaded. `timer` outlives it.
class Visitors final {
 public:
  explicit Visitors(kj::Timer& timer) : timer_(timer), turns_(timer, kVisitorsAtOnce) {}
  ~Visitors() noexcept(false);
  KJ_DISALLOW_COPY(Visitors);

  struct Admission {
    kj::Own<kj::AsyncIoStream> stream;  // the peer's, and no more of it than a visitor's is read
    LetIn letIn;
    // Fails when the peer is to be disconnected: it took too long, or there are too many. Never resolves
    // where it logs in.
    kj::Promise<void> tooLate = nullptr;
    // Resolves when it logs in as a role.
    kj::Promise<void> isRole = nullptr;
  };
  // `from`: addressOf() the socket below the stream.
  Admission admit(kj::Own<kj::AsyncIoStream> stream, const std::string& from,
                  std::shared_ptr<const PeerName> peer = std::make_shared<const PeerName>());

  size_t count() const { return visitors_.size(); }

 private:
  struct Visitor;
  class Stream;

  void makeRoom(const std::string& address);

  kj::Timer& timer_;
  std::list<Visitor*> visitors_;  // the longest there first
  std::map<std::string, size_t> ofAddress_;
  Turns turns_;
};

}  // namespace tarcil
