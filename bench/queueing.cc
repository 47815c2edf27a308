// Question: how long do jobs wait for one another, by load, by priority and by user (Tarcil Fig. 12)?
//
//   queueing [--servers N] [--rus C] [--jobs J] [--seed S]
//
// A whole cluster of three agents on a virtual clock, without RPC (tests/support/fake_cluster): messages take
// 0.1 to 5 ms. Jobs of one task of a second on average, exponential as the times between them. A wait is from
// the submission to the grant of a unit.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

#include "bench/report.h"
#include "tests/support/builders.h"
#include "tests/support/fake_cluster.h"

namespace tarcil::bench {
namespace {

constexpr uint32_t kAgents = 3;
constexpr Duration kPatience = std::chrono::minutes(30);

struct Flags {
  uint32_t servers = 25, rus = 4, jobs = 10'000;
  uint64_t seed = 1;
};

double exponential(double mean, Rng& rng) {
  return -mean * std::log((static_cast<double>(rng.below(1u << 30)) + 1) / (1u << 30));
}

struct Waits {
  std::vector<double> ms;

  void print(const char* of) {
    if (ms.empty()) return;
    std::sort(ms.begin(), ms.end());
    double sum = 0;
    for (double wait : ms) sum += wait;
    const auto at = [this](double part) {
      return ms[static_cast<size_t>(part * static_cast<double>(ms.size() - 1))];
    };
    std::printf("  %-24s mean %8.1f  p50 %8.1f  p95 %8.1f  p99 %8.1f ms  (%zu)\n", of,
                sum / static_cast<double>(ms.size()), at(0.5), at(0.95), at(0.99), ms.size());
  }
};

// Runs so many jobs at this load; `isFirst` shapes each and says to which of the two groups it belongs.
void run(const Flags& flags, double load, const char* first, const char* second,
         const std::function<bool(JobSpec&, Rng&)>& isFirst) {
  FakeClusterOptions options;
  options.seed = flags.seed;
  options.agents = kAgents;
  options.monitors = flags.servers;
  options.serversPerMonitor = 1;
  options.rusPerServer = flags.rus;
  options.master.keepFinishedJobs = flags.jobs;
  FakeCluster cluster(options);
  struct Submitted {
    JobId job;
    WallTime when;
    bool isFirst;
  };
  std::vector<Submitted> jobs;
  for (uint32_t i = 0; i < flags.jobs; ++i) {
    JobSpec spec = aJob(1);
    spec.command = {"sleep", std::to_string(exponential(1, cluster.rng()))};
    const bool which = isFirst(spec, cluster.rng());
    const WallTime now = cluster.now();
    jobs.push_back({cluster.submit(spec, i % kAgents), now, which});
    const double pause = exponential(1 / (load * flags.servers * flags.rus), cluster.rng());
    cluster.run(Duration(static_cast<int64_t>(pause * 1e6)));
  }
  if (!cluster.runToRest(kPatience)) std::printf("  the cluster did not come to rest\n");
  Waits ofFirst, ofSecond;
  for (const Submitted& job : jobs) {
    const Duration waited = cluster.tasksOf(job.job)[0].placed - job.when;
    (job.isFirst ? ofFirst : ofSecond).ms.push_back(static_cast<double>(waited.count()) / 1e3);
  }
  ofFirst.print(first);
  ofSecond.print(second);
}

int measure(const Flags& flags) {
  printConditions();
  std::printf("%u servers of %u units, %u jobs\n", flags.servers, flags.rus, flags.jobs);
  for (const double load : {0.7, 0.8, 0.9, 0.95, 0.99}) {
    std::printf("load %.0f %%\n", 100 * load);
    run(flags, load, "all", "", [](JobSpec&, Rng&) { return true; });
  }
  for (const double load : {0.8, 0.95}) {
    for (const double part : {0.1, 0.3, 0.5}) {
      std::printf("load %.0f %%, %.0f %% of high priority\n", 100 * load, 100 * part);
      run(flags, load, "high", "low", [part](JobSpec& spec, Rng& rng) {
        const bool isHigh = static_cast<double>(rng.below(1'000)) < 1'000 * part;
        if (isHigh) spec.priority = 90;
        return isHigh;
      });
    }
  }
  return 0;
}

}  // namespace
}  // namespace tarcil::bench

int main(int argc, char** argv) {
  tarcil::bench::Flags flags;
  CLI::App app("Measures how long jobs wait in a simulated cluster of three agents.");
  app.add_option("--servers", flags.servers, "Servers.")->capture_default_str();
  app.add_option("--rus", flags.rus, "Units of each.")->capture_default_str();
  app.add_option("--jobs", flags.jobs, "Jobs of each run.")->capture_default_str();
  app.add_option("--seed", flags.seed, "Seed.")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return tarcil::bench::measure(flags);
}
