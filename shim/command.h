// From a privileged process to the user's command.
#pragma once

#include "shim/plan_reader.h"
#include "shim/report.h"

namespace tarcil {

// Gives up every privilege and becomes the plan's user, unless the plan says otherwise, and executes the
// command with stdout and stderr on these descriptors. Returns only by exec or _exit; a failure is in
// `report`. Made for the child of vfork: it changes nothing of the parent's memory but `report`.
[[noreturn]] void executeCommand(const Plan& plan, int outFd, int errFd, Report& report);

}  // namespace tarcil
