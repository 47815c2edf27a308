// The task's cgroups, made and removed as the plan says. What goes where is the monitor's business.
#pragma once

#include "shim/plan_reader.h"
#include "shim/report.h"

namespace tarcil {

// Makes the directories, writes the settings, and keeps who is born there from the devices that the plan
// says. False: `report` says why.
bool makeCgroups(const Plan& plan, Report& report);

// A child of this process, made with these CLONE_ flags, in the plan's cgroup of version 2, where there is
// one. As clone3: 0 in the child, its pid here, negative for failure.
long cloneIntoCgroup(const Plan& plan, uint64_t flags);

// Moves the calling process, which must have one thread only, into the cgroup v1 directories of the plan, and
// keeps it to the task's cores where its affinity has to. False: `report` says why. It writes "0" to `tasks`:
// a single thread that moves itself needs no lock on all the machine's forks, whereas moving a pid through
// cgroup.procs waits for an RCU grace period on a machine that was idle before (10 ms against 0.1 ms).
bool enterLimits(const Plan& plan, Report& report);

// The same for a process that moves the task's output: of version 1 into those of the plan's `outputJoins`
// that are there, and into the cgroup of version 2 if `isBornInside` says that it is not yet. What fails is
// left out.
void enterOutputLimits(const Plan& plan, bool isBornInside);

// Processes that the kernel killed in the task's memory cgroup for want of memory.
uint64_t oomKills(const Plan& plan);

// What the task and what moved its output have used in all; 0 where that is not counted.
struct TaskUse {
  uint64_t peakMemory = 0;  // bytes
  uint64_t cpuMicros = 0;
};
TaskUse useOf(const Plan& plan);

// Removes the directories. All processes of the task are gone by now.
void removeCgroups(const Plan& plan);

}  // namespace tarcil
