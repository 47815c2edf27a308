// Workloads out of a few numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/rng.h"
#include "sim/workload/workload.h"

namespace tarcil::sim {

enum class Durations : uint8_t {
  kExponentialJobs,   // one exponential duration a job, the same for all its tasks (Sparrow's simulators, A)
  kExponentialTasks,  // each task its own (Sparrow's simulators, B)
  kConstant,
};

// Jobs alike, at random times (Poisson), as in Sparrow's simulators.
struct AlikeJobs {
  uint32_t jobs = 1;
  uint32_t tasks = 1;
  Duration mean = std::chrono::milliseconds(100);
  Durations durations = Durations::kExponentialJobs;
  // Mean time between arrivals.
  double gapSeconds = 1;
  uint16_t applications = 1;  // jobs are of one or another by chance
};
Workload alikeJobs(const AlikeJobs& options, Rng& rng);

// Jobs alike, at random times, of one of several users who share a cluster.
struct Stream {
  std::string name;
  double load = 0.1;  // part of all units that its jobs would hold at full speed, while they come
  uint32_t tasks = 10;
  Duration mean = std::chrono::milliseconds(100);
  Durations durations = Durations::kConstant;
  uint8_t priority = 50;
  uint16_t shares = 1;              // of what comes free, beside others of the same priority
  Duration from{};                  // when the first may come
  std::optional<Duration> until{};  // and the last; unset: to the end
};

struct StreamsTogether {
  std::vector<Stream> streams;  // at most 256
  Duration span{};              // until when jobs come
  uint64_t units = 1;
  uint16_t applications = 1;
};
Workload streamJobs(const StreamsTogether& options, Rng& rng);

// What Tarcil 6.3 runs: short analytics, batch, streaming, services and single-server benchmarks, one job
// every `gap`. Of each kind some applications out of all: an application's number modulo five tells its kind.
struct MixedJobs {
  uint32_t jobs = 7'200;
  Duration gap = std::chrono::seconds(1);
  uint16_t applications = 60;
  // Factor on all durations, to reach a load.
  double stretch = 1;
};
Workload mixedJobs(const MixedJobs& options, Rng& rng);

// Few large jobs among many small ones, as traces of clusters have them: numbers of tasks and durations are
// of bounded Pareto distributions (1 to 200 tasks, shape 1.2; 5 s to ten minutes, shape 1.1), a job's tasks
// within 30 % of its own duration. Jobs come at random times, one a second.
inline constexpr uint32_t kMaxHeavyTailedTasks = 200;
struct HeavyTailedJobs {
  uint32_t jobs = 1;
  uint16_t applications = 1;
};
Workload heavyTailedJobs(const HeavyTailedJobs& options, Rng& rng);

}  // namespace tarcil::sim
