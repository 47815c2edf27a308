// Interference on a task where it runs.
#pragma once

#include "core/model/contention.h"
#include "master/logic/servers/server_table.h"

namespace tarcil::master {

// Pressure on a task with this profile from the server's other tasks and the background. Requires: the task
// is there.
Pressure interferenceOn(const Profile& profile, const Server& server, ContentionModel model);

}  // namespace tarcil::master
