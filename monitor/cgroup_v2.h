// The files of cgroup version 2: one hierarchy for all controllers.
#pragma once

#include <set>
#include <string>

#include "monitor/cgroup.h"

namespace tarcil {

// Adds what a task needs below `parent`, which offers `controllers` to its children, under `name`. The task
// is born in it (CLONE_INTO_CGROUP). `limitSwap`: the task gets no swap, for machines that have some.
void addV2(const std::string& parent, const std::set<std::string>& controllers, const std::string& name,
           const TaskLimits& limits, bool limitSwap, TaskCgroups& result);

}  // namespace tarcil
