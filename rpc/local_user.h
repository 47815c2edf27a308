// Who a peer is that shows nothing: the kernel knows whose process is at the other end of a Unix socket.
#pragma once

#include <kj/async.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "env/user_name.h"
#include "rpc/visitors.h"

namespace tarcil {

// So many names are looked up at once: each on a thread, since the machine's users may be known to another
// machine that does not answer.
inline constexpr int kMaxLookups = 64;

// The name of the peer's user on this machine. Throws Denied over TCP and for root, who is no user of the
// cluster, and Exhausted where too many names are being looked up; fails with Denied for a number without a
// name. `lookUp` is called on another thread.
kj::Promise<std::string> localUser(
    const LetIn& letIn, std::function<std::optional<std::string>(uint32_t uid)> lookUp = userNameOf);

}  // namespace tarcil
