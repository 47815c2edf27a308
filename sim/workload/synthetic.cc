#include "sim/workload/synthetic.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/chance.h"

namespace tarcil::sim {
namespace {

Duration fromSeconds(double seconds) {
  return Duration(std::max<int64_t>(1, std::llround(seconds * 1e6)));
}

// One kind of the mix. Numbers of tasks and durations are uniform in their logarithms.
struct Kind {
  double share;  // of the jobs
  double fewestTasks, mostTasks;
  double shortest, longest;  // seconds, of a task
  double spread;             // of the durations of a job's tasks about the job's own
};

// The paper names the kinds and no numbers. These give 4,176 units a mean load of 70 % once tasks of all
// kinds are under way.
constexpr std::array<Kind, 5> kKinds = {{
    {0.40, 4, 40, 0.1, 20, 0.1},  // Spark: short tasks
    {0.20, 8, 40, 60, 600, 0.2},  // Hadoop: longer jobs of many tasks
    {0.10, 4, 12, 600, 2400, 0},  // Storm: streaming
    {0.10, 2, 8, 1200, 3600, 0},  // memcached, Cassandra: services
    {0.20, 1, 1, 120, 1200, 0},   // SPEC, PARSEC: on a single server
}};

const Kind& drawKind(size_t& number, Rng& rng) {
  double left = rng.unit();
  for (number = 0; number + 1 < kKinds.size(); ++number) {
    if (left < kKinds[number].share) break;
    left -= kKinds[number].share;
  }
  return kKinds[number];
}

}  // namespace

Workload alikeJobs(const AlikeJobs& options, Rng& rng) {
  Workload workload;
  workload.jobs.reserve(options.jobs);
  workload.work.reserve(size_t{options.jobs} * options.tasks);
  const double mean = static_cast<double>(options.mean.count()) * 1e-6;
  double seconds = 0;
  std::vector<Duration> own(options.tasks);
  for (uint32_t i = 0; i < options.jobs; ++i) {
    SimJob job;
    seconds += exponential(options.gapSeconds, rng);
    job.arrival = fromSeconds(seconds);
    job.application = static_cast<ApplicationNumber>(rng.below(options.applications));
    switch (options.durations) {
      case Durations::kConstant:
        workload.add(job, options.tasks, options.mean);
        break;
      case Durations::kExponentialJobs:
        workload.add(job, options.tasks, fromSeconds(exponential(mean, rng)));
        break;
      case Durations::kExponentialTasks:
        for (Duration& each : own) each = fromSeconds(exponential(mean, rng));
        workload.add(job, own);
        break;
    }
  }
  return workload;
}

Workload mixedJobs(const MixedJobs& options, Rng& rng) {
  Workload workload;
  std::vector<Duration> tasks;
  for (uint32_t i = 0; i < options.jobs; ++i) {
    size_t number = 0;
    const Kind& kind = drawKind(number, rng);
    SimJob job;
    job.arrival = i * options.gap;
    // Applications of this kind: number, number + 5, ...
    const size_t ofKind = (options.applications + kKinds.size() - 1 - number) / kKinds.size();
    job.application =
        static_cast<ApplicationNumber>(ofKind == 0 ? 0 : number + kKinds.size() * rng.below(ofKind));
    const double typical = options.stretch * logBetween(kind.shortest, kind.longest, rng);
    const auto count = static_cast<size_t>(std::lround(logBetween(kind.fewestTasks, kind.mostTasks, rng)));
    tasks.resize(count);
    for (Duration& task : tasks) {
      task = fromSeconds(typical * between(1 - kind.spread, 1 + kind.spread, rng));
    }
    workload.add(job, tasks);
  }
  return workload;
}

}  // namespace tarcil::sim
