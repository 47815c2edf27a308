// Tickets: by them a monitor knows that the master wants a launch as it is. They are message authentication
// codes under a key that one session of master and monitor has: to sign each launch with a key pair would
// cost more than all else that is done for it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/model/launch.h"

namespace tarcil {

// Of one session of master and monitor, given over its connection; a ticket of an earlier one is none.
using TicketKey = std::array<uint8_t, 32>;
TicketKey makeTicketKey();

// HMAC-SHA-256 over the launch as it goes over the wire, without what its agent may say of it: what is
// expected of it, what its profile says, and where the other tasks of its gang are.
std::string ticketFor(const LaunchSpec& launch, const TicketKey& key);

// In a time that does not depend on the ticket.
bool isTicketFor(const LaunchSpec& launch, const TicketKey& key, std::string_view ticket);

}  // namespace tarcil
