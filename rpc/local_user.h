// Who a peer is that shows nothing: the kernel knows whose process is at the other end of a Unix socket.
#pragma once

#include <string>

#include "rpc/visitors.h"

namespace tarcil {

// The name of the peer's user on this machine. Throws Denied over TCP, for root, who is no user of the
// cluster, and for a number without a name.
std::string requireLocalUser(const LetIn& letIn);

}  // namespace tarcil
