// A /dev of the task's own.
#pragma once

#include "shim/plan_reader.h"
#include "shim/report.h"

namespace tarcil {

// On /dev: null, zero, full, random, urandom, tty, terminals of its own, shm, the links to descriptors, and
// the devices of the plan. Requires: /dev is an empty folder of the task's own, and /proc its own. False:
// `report` says why.
bool makeDevices(const Plan& plan, Report& report);

}  // namespace tarcil
