#include "sim/workload/synthetic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

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

double inSeconds(Duration duration) {
  return static_cast<double>(duration.count()) * 1e-6;
}

// Draws the tasks of a job, and adds it.
void addJob(Workload& workload, const SimJob& job, uint32_t tasks, Duration mean, Durations durations,
            Rng& rng) {
  switch (durations) {
    case Durations::kConstant:
      return workload.add(job, tasks, mean);
    case Durations::kExponentialJobs:
      return workload.add(job, tasks, fromSeconds(exponential(inSeconds(mean), rng)));
    case Durations::kExponentialTasks: {
      std::vector<Duration> own(tasks);
      for (Duration& each : own) each = fromSeconds(exponential(inSeconds(mean), rng));
      return workload.add(job, own);
    }
  }
}

}  // namespace

Workload heavyTailedJobs(const HeavyTailedJobs& options, Rng& rng) {
  Workload workload;
  std::vector<Duration> tasks;
  double seconds = 0;
  for (uint32_t i = 0; i < options.jobs; ++i) {
    SimJob job;
    seconds += exponential(1, rng);
    job.arrival = fromSeconds(seconds);
    job.application = static_cast<ApplicationNumber>(rng.below(options.applications));
    tasks.resize(static_cast<size_t>(boundedPareto(1, kMaxHeavyTailedTasks, 1.2, rng)));
    const double typical = boundedPareto(5, 600, 1.1, rng);
    for (Duration& task : tasks) task = fromSeconds(typical * between(0.7, 1.3, rng));
    workload.add(job, tasks);
  }
  return workload;
}

Workload alikeJobs(const AlikeJobs& options, Rng& rng) {
  Workload workload;
  workload.jobs.reserve(options.jobs);
  workload.work.reserve(size_t{options.jobs} * options.tasks);
  double seconds = 0;
  for (uint32_t i = 0; i < options.jobs; ++i) {
    SimJob job;
    seconds += exponential(options.gapSeconds, rng);
    job.arrival = fromSeconds(seconds);
    job.application = static_cast<ApplicationNumber>(rng.below(options.applications));
    addJob(workload, job, options.tasks, options.mean, options.durations, rng);
  }
  return workload;
}

Workload streamJobs(const StreamsTogether& options, Rng& rng) {
  std::vector<std::pair<SimTime, size_t>> arrivals;  // and the stream
  for (size_t i = 0; i < options.streams.size(); ++i) {
    const Stream& stream = options.streams[i];
    const double gap =
        stream.tasks * inSeconds(stream.mean) / stream.load / static_cast<double>(options.units);
    const double until = inSeconds(std::min(stream.until.value_or(options.span), options.span));
    for (double at = inSeconds(stream.from) + exponential(gap, rng); at < until;
         at += exponential(gap, rng)) {
      arrivals.emplace_back(fromSeconds(at), i);
    }
  }
  std::sort(arrivals.begin(), arrivals.end());
  Workload workload;
  for (const auto& [arrival, number] : arrivals) {
    const Stream& stream = options.streams[number];
    SimJob job{.arrival = arrival, .priority = stream.priority, .shares = stream.shares};
    job.stream = static_cast<uint8_t>(number);
    job.application = static_cast<ApplicationNumber>(rng.below(options.applications));
    addJob(workload, job, stream.tasks, stream.mean, stream.durations, rng);
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
