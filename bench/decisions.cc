// Question: what does a decision cost, from 1,000 to 100,000 servers, and what does an agent's copy of the
// state cost in time and memory? One thread; the clusters are filled to 60 % by the scheduler itself with
// mixed jobs.
//
//   decisions [--benchmark_filter=REGEX] [Google Benchmark's other flags]
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>

#include "core/model/constraint.h"
#include "core/state/glance.h"
#include "tests/support/generated_cluster.h"

namespace tarcil {
namespace {

constexpr uint32_t kRus = 10;

GeneratedCluster& cluster(int64_t servers, double load = 0.6) {
  static std::map<std::pair<int64_t, double>, std::unique_ptr<GeneratedCluster>> clusters;
  auto& made = clusters[{servers, load}];
  if (!made) {
    GeneratedOptions options;
    options.servers = static_cast<uint32_t>(servers);
    options.rus = kRus;
    made = std::make_unique<GeneratedCluster>(options);
    made->fillTo(load);
  }
  return *made;
}

PlacementRequest placing(const JobSpec& spec) {
  PlacementRequest request{.spec = spec, .tasks = {}, .placedOn = {}};
  for (TaskIndex task = 0; task < spec.tasks; ++task) request.tasks.push_back({task, 0});
  return request;
}

// Arguments: servers, tasks, draws per task, whether explained.
void decide(benchmark::State& state) {
  GeneratedCluster& made = cluster(state.range(0));
  QualitySettings settings;
  settings.ratio = static_cast<uint32_t>(state.range(2));
  std::vector<JobSpec> jobs;
  for (int i = 0; i < 64; ++i) jobs.push_back(made.job(static_cast<uint32_t>(state.range(1))));
  std::vector<PlacementRequest> requests;
  requests.reserve(jobs.size());
  for (const JobSpec& job : jobs) {
    requests.push_back(placing(job));
    if (state.range(3) == 0) requests.back().candidates = 0;
  }
  Chooser chooser;
  uint64_t seed = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(chooser.choose(made.state(), requests[seed % jobs.size()], settings, seed));
    ++seed;
  }
  const double draws = static_cast<double>(state.range(1) * state.range(2));
  state.counters["per_draw"] = benchmark::Counter(
      draws * static_cast<double>(state.iterations()),
      static_cast<benchmark::Counter::Flags>(benchmark::Counter::kIsRate | benchmark::Counter::kInvert));
}
BENCHMARK(decide)
    ->ArgNames({"servers", "tasks", "ratio", "explained"})
    ->Args({1'000, 1, 8, 1})
    ->Args({10'000, 1, 8, 1})
    ->Args({100'000, 1, 8, 1})
    ->Args({100'000, 1, 8, 0})
    ->Args({1'000, 100, 32, 1})
    ->Args({100'000, 100, 32, 1})
    ->Args({100'000, 100, 32, 0});

// Servers of eight tasks each in the mean, as far as possible of different kinds: what it costs to judge each
// of them. Arguments: whether neighbour by neighbour, whether ranked by worth.
void beside(benchmark::State& state) {
  static GeneratedCluster& made = []() -> GeneratedCluster& {
    static GeneratedCluster cluster({.servers = 10'000, .rus = 16});
    cluster.fillTo(0.6);
    cluster.state().keepNeighbours(true);
    return cluster;
  }();
  QualitySettings settings;
  settings.ratio = 32;
  if (state.range(0) != 0) settings.contention = ContentionModel::kSlowdowns;
  settings.ranking = state.range(1) != 0 ? RankBy::kWorth : RankBy::kQuality;
  std::vector<JobSpec> jobs;
  for (int i = 0; i < 64; ++i) jobs.push_back(made.job());
  std::vector<PlacementRequest> requests;
  for (const JobSpec& job : jobs) requests.push_back(placing(job));
  Chooser chooser;
  uint64_t seed = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(chooser.choose(made.state(), requests[seed % jobs.size()], settings, seed));
    ++seed;
  }
  state.counters["residents"] = static_cast<double>(made.tasks()) / static_cast<double>(made.state().size());
}
BENCHMARK(beside)->ArgNames({"slowdowns", "worth"})->Args({0, 0})->Args({0, 1})->Args({1, 0})->Args({1, 1});

enum class Named : int64_t { kNone, kPreferred, kRequired };

// 100 tasks, of which each prefers or requires one of three servers of its own. Arguments: servers, which.
void named(benchmark::State& state) {
  GeneratedCluster& made = cluster(state.range(0));
  JobSpec job = made.job(100);
  Rng rng(1);
  for (TaskIndex task = 0; task < job.tasks; ++task) {
    std::vector<std::string> names;
    for (int i = 0; i < 3; ++i) {
      names.emplace_back(made.state().name(static_cast<ServerId>(rng.below(made.state().size()))));
    }
    if (static_cast<Named>(state.range(1)) == Named::kPreferred) job.placement.preferOfTask[task] = names;
    if (static_cast<Named>(state.range(1)) == Named::kRequired) {
      job.placement.requireOfTask[task] = {onServers(names)};
    }
  }
  const PlacementRequest request = placing(job);
  Chooser chooser;
  uint64_t seed = 0;
  for (auto _ : state) benchmark::DoNotOptimize(chooser.choose(made.state(), request, {}, seed++));
}
BENCHMARK(named)
    ->ArgNames({"servers", "named"})
    ->Args({100'000, static_cast<int64_t>(Named::kNone)})
    ->Args({100'000, static_cast<int64_t>(Named::kPreferred)})
    ->Args({100'000, static_cast<int64_t>(Named::kRequired)})
    ->Unit(benchmark::kMicrosecond);

enum class Together : int64_t { kAnywhere, kSpread, kPacked };

// 100 tasks, of which at most one is behind a switch, or all as far as possible behind one: each of 2,500
// switches has 40 servers. Argument: which.
void bySwitch(benchmark::State& state) {
  static GeneratedCluster& made = []() -> GeneratedCluster& {
    GeneratedOptions options;
    options.servers = 100'000;
    options.rus = kRus;
    options.switches = 2'500;
    static GeneratedCluster cluster(options);
    cluster.fillTo(0.6);
    return cluster;
  }();
  static const JobSpec plain = made.job(100);
  JobSpec job = plain;
  const auto together = static_cast<Together>(state.range(0));
  if (together == Together::kSpread) job.placement.spread = "switch";
  if (together == Together::kPacked) job.placement.pack = "switch";
  const PlacementRequest request = placing(job);
  Chooser chooser;
  uint64_t seed = 0;
  for (auto _ : state) benchmark::DoNotOptimize(chooser.choose(made.state(), request, {}, seed++));
}
BENCHMARK(bySwitch)
    ->ArgNames({"together"})
    ->Arg(static_cast<int64_t>(Together::kAnywhere))
    ->Arg(static_cast<int64_t>(Together::kSpread))
    ->Arg(static_cast<int64_t>(Together::kPacked))
    ->Unit(benchmark::kMicrosecond);

void scanEverything(benchmark::State& state) {
  GeneratedCluster& made = cluster(state.range(0));
  JobSpec job = made.job(static_cast<uint32_t>(state.range(1)));
  job.policy = Policy::kGreedy;
  const PlacementRequest request = placing(job);
  Chooser chooser;
  uint64_t seed = 0;
  for (auto _ : state) benchmark::DoNotOptimize(chooser.choose(made.state(), request, {}, seed++));
}
BENCHMARK(scanEverything)
    ->ArgNames({"servers", "tasks"})
    ->Args({1'000, 1})
    ->Args({100'000, 1})
    ->Args({100'000, 100})
    ->Unit(benchmark::kMillisecond);

// The judgement alone: byte shuffle or portable.
template <bool kPortable>
void judge(benchmark::State& state) {
  GeneratedCluster& made = cluster(100'000);
  const JobSpec job = made.job();
  std::vector<Newcomer> newcomers;
  for (size_t p = 0; p < made.state().platformCount(); ++p) {
    const Share& share = made.state().share(static_cast<PlatformId>(p));
    newcomers.push_back(newcomer(viewOn(job.profile, share, 1.0), judgingFor(job, {}), 1));
  }
  std::vector<ServerId> servers(256);
  for (ServerId& server : servers) server = static_cast<ServerId>(made.rng().below(100'000));
  std::vector<Glance> glances(servers.size());
  for (auto _ : state) {
    if constexpr (kPortable) {
      for (size_t i = 0; i < servers.size(); ++i) {
        const Vacancy& vacancy = made.state().vacancy(servers[i]);
        glances[i] = glancePortably(newcomers[vacancy.platform], vacancy);
      }
    } else {
      glance(newcomers, made.state().vacancies(), servers, glances);
    }
    benchmark::DoNotOptimize(glances.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(servers.size()));
}
BENCHMARK(judge<false>)->Name("judge/shuffle");
BENCHMARK(judge<true>)->Name("judge/portable");

// Arguments: servers, units that change in one delta. Each delta takes or frees the same units of a server;
// the servers come in random order, and their records are not in a cache near by.
void applyDeltas(benchmark::State& state) {
  GeneratedCluster& made = cluster(state.range(0));
  ServerUpdate free{0, std::nullopt, made.state().status(0)};
  for (RuIndex ru = 0; ru < kRus; ++ru) free.status.free.insert(ru);
  ServerUpdate taken = free;
  for (RuIndex ru = 0; ru < static_cast<RuIndex>(state.range(1)); ++ru) taken.status.free.erase(ru);
  std::vector<ServerId> servers(static_cast<size_t>(state.range(0)));
  std::iota(servers.begin(), servers.end(), 0U);
  std::shuffle(servers.begin(), servers.end(), made.rng());
  static uint64_t version = 1'000'000'000;
  size_t next = 0;
  bool taking = true;
  for (auto _ : state) {
    ServerUpdate& update = taking ? taken : free;
    update.id = servers[next];
    update.status.version = ++version;
    made.state().apply(update);
    if (++next == servers.size()) {
      next = 0;
      taking = !taking;
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(1));
}
BENCHMARK(applyDeltas)
    ->ArgNames({"servers", "units"})
    ->Args({100'000, 1})
    ->Args({100'000, 10})
    ->Args({1'000, 1});

// Bytes on the heap of an agent's copy, with distinct names and addresses.
void memory(benchmark::State& state) {
  for (auto _ : state) {
    const size_t before = mallinfo2().uordblks;
    ClusterState copy;
    for (ServerId id = 0; id < static_cast<ServerId>(state.range(0)); ++id) {
      ServerFacts facts;
      facts.name = "server-" + std::to_string(id);
      facts.platform = "p" + std::to_string(id % 4);
      facts.rack = "rack-" + std::to_string(id % 2'500);
      facts.address = "10." + std::to_string(id / 60'000) + "." + std::to_string(id / 250 % 240) + "." +
                      std::to_string(id % 250) + ":7401";
      facts.rus = facts.cores = kRus;
      ServerStatus status;
      status.version = 1;
      status.up = true;
      status.free = RuSet::all(kRus);
      copy.apply({id, facts, status});
    }
    state.counters["MiB"] = static_cast<double>(mallinfo2().uordblks - before) / (1 << 20);
  }
}
BENCHMARK(memory)->ArgNames({"servers"})->Arg(100'000)->Iterations(1);

}  // namespace
}  // namespace tarcil

BENCHMARK_MAIN();
