// The task's cgroups, made and removed as the plan says. What goes where is the monitor's business.
#pragma once

#include "shim/plan_reader.h"
#include "shim/report.h"

namespace tarcil {

// Makes the directories and writes the settings. False: `report` says why.
bool makeCgroups(const Plan& plan, Report& report);

// Moves the calling process, which must have one thread only, into the cgroup v1 directories of the plan.
// False: `report` says why. It writes "0" to `tasks`: a single thread that moves itself needs no lock on all
// the machine's forks, whereas moving a pid through cgroup.procs waits for an RCU grace period on a machine
// that was idle before (10 ms against 0.1 ms).
bool joinCgroups(const Plan& plan, Report& report);

// Processes that the kernel killed in the task's memory cgroup for want of memory.
uint64_t oomKills(const Plan& plan);

// Removes the directories. All processes of the task are gone by now.
void removeCgroups(const Plan& plan);

}  // namespace tarcil
