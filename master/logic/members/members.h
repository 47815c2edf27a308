// Machines that join, renew their certificates, and are turned out (identity/logic/member_table.h).
#pragma once

#include "master/logic/tables.h"

namespace tarcil::master {

// A word is good for at least and at most this long.
inline constexpr Duration kLeastInvitation = std::chrono::seconds(1);
inline constexpr Duration kMostInvitation = std::chrono::days(7);

// Answers with the member as it is now. Erases what has expired; tells which certificates are revoked where
// that changed.
void changeMembers(EventContext& context, const MembersChanged& event);

}  // namespace tarcil::master
