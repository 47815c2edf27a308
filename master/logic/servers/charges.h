// What tasks are charged for: what their profiles say until monitors have measured what they cause, then
// that.
#pragma once

#include "master/logic/tables.h"

namespace tarcil::master {

// Takes what the server's monitor measured of its tasks; the charge of each changes at once, and agents hear
// of the server as of any change. What was measured on this server counts as what would arrive so: charge =
// measured / share (docs/design.md), at most 99. What it does not measure, and what arrives on the platform
// with share 0, stays as the profile says. Tasks that are not on the server are ignored. Nothing is stored: a
// monitor says it again as soon as it is attached, without which its servers take no tasks.
void takeCharges(EventContext& context, Server& server, const std::vector<TaskPressure>& tasks);

}  // namespace tarcil::master
