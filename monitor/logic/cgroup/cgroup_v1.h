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

}  // namespace tarcil
