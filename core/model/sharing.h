// What sharing servers gains over giving each job servers of its own. Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace tarcil {

// A job's tasks that run.
struct RunningTasks {
  uint32_t tasks = 0;
  uint32_t rusPerTask = 1;
};

// Units that the jobs hold.
uint64_t unitsUsed(const std::vector<RunningTasks>& jobs);

// Units of the servers that they would take if none of them shared a server with another job, on servers of
// so many units each. A task of more units than that counts as if servers were as large as it. Requires:
// serverUnits > 0.
uint64_t unitsAlone(const RunningTasks& job, uint32_t serverUnits);
uint64_t unitsAlone(const std::vector<RunningTasks>& jobs, uint32_t serverUnits);

// What a server usually has: the median, the larger of two in the middle. 0 for none. O(n).
uint32_t usualUnits(std::vector<uint32_t> units);

}  // namespace tarcil
