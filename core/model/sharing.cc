#include "core/model/sharing.h"

#include <algorithm>
#include <numeric>

namespace tarcil {

uint64_t unitsUsed(const std::vector<RunningTasks>& jobs) {
  return std::accumulate(jobs.begin(), jobs.end(), uint64_t{0}, [](uint64_t sum, const RunningTasks& job) {
    return sum + uint64_t{job.tasks} * job.rusPerTask;
  });
}

uint64_t unitsAlone(const RunningTasks& job, uint32_t serverUnits) {
  const uint64_t units = std::max(serverUnits, job.rusPerTask);
  const uint64_t tasksOfServer = units / std::max<uint32_t>(1, job.rusPerTask);
  return (job.tasks + tasksOfServer - 1) / tasksOfServer * units;
}

uint64_t unitsAlone(const std::vector<RunningTasks>& jobs, uint32_t serverUnits) {
  return std::accumulate(
      jobs.begin(), jobs.end(), uint64_t{0},
      [serverUnits](uint64_t sum, const RunningTasks& job) { return sum + unitsAlone(job, serverUnits); });
}

uint32_t usualUnits(std::vector<uint32_t> units) {
  if (units.empty()) return 0;
  const auto middle = units.begin() + static_cast<std::ptrdiff_t>(units.size() / 2);
  std::nth_element(units.begin(), middle, units.end());
  return *middle;
}

}  // namespace tarcil
