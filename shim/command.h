// From a privileged process to the user's command.
#pragma once

#include "shim/plan_reader.h"
#include "shim/report.h"

namespace tarcil {

struct CommandDescriptors {
  int out;
  int err;
  int program = -1;  // to execute, whatever the first word of the command says; else that is looked for
};

// Opens the plan's program, which may be where the task cannot see it; negative where the plan names none.
// False if it cannot be opened: `report` says why.
bool openProgram(const Plan& plan, int& program, Report& report);

// Gives up every privilege and becomes the plan's user, unless the plan says otherwise, and executes the
// command with stdout and stderr on these descriptors. Returns only by exec or _exit; a failure is in
// `report`. Made for the child of vfork: it changes nothing of the parent's memory but `report`.
[[noreturn]] void executeCommand(const Plan& plan, const CommandDescriptors& fds, Report& report);

}  // namespace tarcil
