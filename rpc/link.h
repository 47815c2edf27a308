// Keeps a connection to a peer that may come and go.
#pragma once

#include <kj/function.h>

#include "core/base/result.h"
#include "rpc/connection.h"

namespace tarcil {

struct Attached {
  // Fails where the peer is of no use any more though the connection stands: it is dropped then. Never
  // resolves.
  kj::Promise<void> fault = kj::NEVER_DONE;
};

// Connects, hands the peer's bootstrap capability to `attach`, and waits for the connection to end or to be
// dropped. Whenever that happens, or connecting or attaching fails, tells `lost` why and tries again, after
// 20 ms at first and up to 1 s, from 20 ms again after a connection that ended by itself. Runs until dropped;
// never resolves.
kj::Promise<void> keepLinked(Net net, std::string address,
                             kj::Function<kj::Promise<Attached>(capnp::Capability::Client)> attach,
                             kj::Function<void(const Error&)> lost);

}  // namespace tarcil
