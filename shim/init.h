// Process 1 of the task's pid namespace.
#pragma once

#include "shim/network.h"
#include "shim/plan_reader.h"
#include "shim/report.h"

namespace tarcil {

struct InitDescriptors {
  int taskDirectory;
  int record;    // exit.new, for writing
  int lifeline;  // read end of a pipe whose only writer is the shim
  int lifelineWriter;
  int out;  // write ends for the command
  int err;
  HostNetwork network;
};

// Enters the cgroups, sets up network and mounts, writes `started`, executes the command, tells the monitor,
// passes requested signals on, reaps what is orphaned, and ends when the command ends (with it all processes
// of the namespace), when the shim does, or with the lease. Everything that the shim wants to know is in
// `report`. Requires: all signals are blocked.
[[noreturn]] void runInit(const Plan& plan, const InitDescriptors& fds, Report& report);

}  // namespace tarcil
