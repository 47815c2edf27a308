// What a task has used in all, as the kernel counted it.
#pragma once

#include "core/model/launch.h"
#include "monitor/pressure/cgroup_reader.h"

namespace tarcil {

// Notes peak of memory and time of cores in `end`; what this machine does not count stays 0. Of the task's
// processes and what moved its output. Requires: its cgroups are there still.
void noteUse(const CgroupDirectories& task, TaskEnd& end);

}  // namespace tarcil
