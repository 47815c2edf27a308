// Two-party Cap'n Proto connections: one outgoing, or any number accepted.
#pragma once

#include <capnp/capability.h>
#include <kj/async-io.h>

#include <functional>
#include <string>

#include "rpc/address.h"
#include "rpc/visitors.h"

namespace tarcil {

// What a process needs to talk: one per event loop, made in main. Single-threaded.
struct Net {
  kj::Network& network;
  kj::LowLevelAsyncIoProvider& io;
  kj::Timer& timer;
};

// An outgoing connection. Dropping it ends it; every capability that came over it is broken then.
class Connection {
 public:
  virtual ~Connection() noexcept(false) = default;
  virtual capnp::Capability::Client bootstrap() = 0;
  // Resolves when the peer is gone, its machine is, or its event loop has said nothing for 5 s
  // (rpc/heartbeat.h).
  virtual kj::Promise<void> onDisconnect() = 0;
};

// The promise fails with DISCONNECTED where nobody listens, or nobody answers for 5 s; the call itself does
// not throw. The connection lives no longer than `net`.
kj::Promise<kj::Own<Connection>> connect(Net net, const std::string& address);

// Called for each accepted connection; gives its bootstrap capability, which is dropped with the connection.
// The peer is a visitor (rpc/visitors.h) until LetIn is called, and where that says that it is a role it has
// to answer from then on.
using Greeter = std::function<capnp::Capability::Client(LetIn)>;

// Serves until the promise is dropped, as many as Acceptor takes. A connection that fails ends alone. `timer`
// outlives the promise.
kj::Promise<void> serve(kj::Timer& timer, kj::Own<kj::ConnectionReceiver> receiver, Greeter greeter);

}  // namespace tarcil
