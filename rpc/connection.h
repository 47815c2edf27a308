// Two-party Cap'n Proto connections: one outgoing, or any number accepted.
#pragma once

#include <capnp/capability.h>
#include <kj/async-io.h>

#include <functional>
#include <string>

#include "rpc/address.h"
#include "rpc/security.h"
#include "rpc/visitors.h"

namespace tarcil {

// What a process needs to talk: one per event loop, made in main. Single-threaded.
struct Net {
  kj::Network& network;
  kj::LowLevelAsyncIoProvider& io;
  kj::Timer& timer;
  Security* security =
      nullptr;  // null: whoever made this has looked at the addresses, and nothing is protected
};

// What to log in with at an address: nothing where the peer knows us by our certificate, so that no secret
// goes there.
inline std::string tokenFor(const Net& net, const std::string& address, const std::string& token) {
  return net.security != nullptr && net.security->isKnownAt(address) ? "" : token;
}

// An outgoing connection. Dropping it ends it; every capability that came over it is broken then.
class Connection {
 public:
  virtual ~Connection() noexcept(false) = default;
  virtual capnp::Capability::Client bootstrap() = 0;
  // Resolves when the peer is gone, its machine is, or its event loop has said nothing for 5 s
  // (rpc/heartbeat.h).
  virtual kj::Promise<void> onDisconnect() = 0;
};

// The promise fails with DISCONNECTED where nobody listens, nobody answers for 5 s, it is not who is
// expected, or others could read what is sent there; the call itself does not throw. The connection lives no
// longer than `net`.
kj::Promise<kj::Own<Connection>> connect(Net net, const std::string& address, const Expected& whom = {});

// Over a stream that is connected, and protected where it has to be. `timer` outlives it.
kj::Own<Connection> connectionOver(kj::Timer& timer, kj::Own<kj::AsyncIoStream> stream);

// Called for each accepted connection; gives its bootstrap capability, which is dropped with the connection.
// The peer is a visitor (rpc/visitors.h) until LetIn is called, and where that says that it is a role it has
// to answer from then on.
using Greeter = std::function<capnp::Capability::Client(LetIn)>;

// Serves until the promise is dropped, as many as Acceptor takes. A connection that fails ends alone. With
// `security`, what comes over TCP is protected, and the handshake counts into a visitor's time. `timer` and
// `security` outlive the promise.
kj::Promise<void> serve(kj::Timer& timer, kj::Own<kj::ConnectionReceiver> receiver, Greeter greeter,
                        Security* security = nullptr, Demand demand = Demand::kCertificate);

}  // namespace tarcil
