// The files of cgroup version 2: one hierarchy for all controllers.
#pragma once

#include <set>
#include <string>

#include "monitor/logic/cgroup/cgroup.h"

namespace tarcil {

// Adds what a task needs below `parent`, which offers `controllers` to its children, under `name`; nothing
// where `parent` is empty. The task is born in it (CLONE_INTO_CGROUP), also where there is no controller: its
// CPU time and network traffic are counted there. With `features.limitSwap` the task gets no swap.
void addV2(const std::string& parent, const std::set<std::string>& controllers, const std::string& name,
           const TaskLimits& limits, const CgroupFeatures& features, TaskCgroups& result);

CgroupSetting memoryLimitV2(const std::string& directory, uint64_t bytes);

// In the task's directory. Of both, 0: no limit.
CgroupSetting cpuLimitV2(const std::string& directory, uint64_t cpuMicros);
std::vector<CgroupSetting> diskLimitV2(const std::string& directory, const std::vector<std::string>& disks,
                                       uint64_t bytesPerSecond);

}  // namespace tarcil
