// The files of cgroup version 1: one hierarchy per controller (or group of controllers mounted together).
#pragma once

#include <string>

#include "monitor/logic/cgroup/cgroup.h"

namespace tarcil {

// Adds what a task needs in the hierarchies of `parents` (controller -> directory of this server in its
// hierarchy) under `name`: also where nothing is limited and only counted. With `features.limitSwap` memory
// and swap together are kept to the limit.
void addV1(const std::map<std::string, std::string>& parents, const std::string& name,
           const TaskLimits& limits, const CgroupFeatures& features, TaskCgroups& result);

// In a directory of the memory hierarchy.
CgroupSetting memoryLimitV1(const std::string& memory, uint64_t bytes);

// In the task's directories of these hierarchies. Of both, 0: no limit.
std::vector<CgroupSetting> cpuLimitV1(const std::string& cpu, uint64_t cpuMicros);
std::vector<CgroupSetting> diskLimitV1(const std::string& blkio, const std::vector<std::string>& disks,
                                       uint64_t bytesPerSecond);

}  // namespace tarcil
