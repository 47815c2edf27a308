// Tickets: by them a monitor knows that the master wants a launch as it is. They are message authentication
// codes under a key that one session of master and monitor has: to sign each launch with a key pair would
// cost more than all else that is done for it.
#pragma once

#include <string>
#include <string_view>

#include "core/model/launch.h"
#include "identity/mac.h"

namespace tarcil {

// Over the launch as it goes over the wire, without what its agent may say of it: what is expected of it,
// what its profile says, and where the other tasks of its gang are. `key`: of one session of master and
// monitor, which tells it over its connection; a ticket of an earlier one is none.
std::string ticketFor(const LaunchSpec& launch, const MacKey& key);

bool isTicketFor(const LaunchSpec& launch, const MacKey& key, std::string_view ticket);

}  // namespace tarcil
