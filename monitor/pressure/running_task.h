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

// How much a task uses what tasks can be held to a rate of, in bytes a second; 0: not known.
struct UseRates {
  double disk = 0;     // on the disk and in the direction where it is most
  double network = 0;  // in the busier direction

  bool operator==(const UseRates&) const = default;
};

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
