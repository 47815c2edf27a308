// A task that runs on the server, as those see it who measure.
#pragma once

#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/model/performance.h"
#include "core/model/resources.h"
#include "monitor/pressure/cgroup_reader.h"

namespace tarcil {

class MetricInbox;

struct RunningTask {
  AllocationId allocation = 0;
  JobId job;
  std::optional<PerformanceGoal> goal;  // without: it is not watched
  Pressure caused{}, tolerated{};       // by its profile
  std::vector<uint32_t> cores;          // that it is kept to; empty: to none
  CgroupDirectories cgroups;
  MetricInbox* inbox = nullptr;  // lives at least until the next call; null: it has none
  double earlier = 0;            // as LaunchSpec::earlier
};

}  // namespace tarcil
