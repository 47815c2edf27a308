// Interference on a task where it runs.
#pragma once

#include "core/model/contention.h"
#include "master/logic/tables.h"

namespace tarcil::master {

// The task as its server has it.
const Resident& residentOf(const Tables& tables, const Hold& hold);

// Pressure on the resident from the server's other tasks and the background.
Pressure interferenceOn(const Resident& resident, const Server& server, ContentionModel model);

}  // namespace tarcil::master
