#include "sim/scenario.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "sim/chance.h"
#include "sim/policies/agents.h"
#include "sim/policies/central.h"
#include "sim/policies/late_binding.h"
#include "sim/policies/server_queues.h"
#include "sim/replay/profiled_truth.h"

namespace tarcil::sim {
namespace {

constexpr uint32_t kMostServers = 100'000;
constexpr uint64_t kMostUnits = 1'000'000;
constexpr uint32_t kMostUnitsOfServer = 4'096;
constexpr uint64_t kMostTasks = 50'000'000;

class Check {
 public:
  void that(bool holds, const std::string& problem) {
    if (!holds) found_.push_back(problem);
  }
  template <typename Number>
  void range(const char* field, Number value, Number least, Number most) {
    std::string text = std::string(field) + ": is " + shown(value) + "; write a number from " + shown(least);
    that(value >= least && value <= most, text + " to " + shown(most));
  }
  std::vector<std::string> found() { return std::move(found_); }

 private:
  template <typename Number>
  static std::string shown(Number value) {
    std::string text = std::to_string(value);
    if (std::is_floating_point_v<Number>) {
      while (text.ends_with('0')) text.pop_back();
      if (text.ends_with('.')) text.pop_back();
    }
    return text;
  }

  std::vector<std::string> found_;
};

uint32_t mostUnits(const Scenario& scenario) {
  uint32_t most = 0;
  for (const PlatformSize& platform : scenario.platforms) most = std::max(most, platform.units);
  return most;
}

bool bindsLate(const Scenario& scenario) {
  return std::find(scenario.policies.begin(), scenario.policies.end(), PolicyName::kLateBinding) !=
         scenario.policies.end();
}

// Moves the arrivals so that the jobs would hold this part of the units between the first and the last.
void stretch(Workload& workload, double load, uint64_t units) {
  const auto span = static_cast<double>(workload.jobs.back().arrival.count());
  if (span <= 0) return;
  const double wanted = workload.ruSeconds() * 1e6 / (load * static_cast<double>(units));
  for (SimJob& job : workload.jobs) {
    job.arrival = SimTime(std::llround(static_cast<double>(job.arrival.count()) * wanted / span));
  }
}

Workload workloadOf(const Scenario& scenario, uint16_t applications, Rng rng) {
  Workload workload;
  switch (scenario.workload) {
    case WorkloadKind::kAlike: {
      const double unitSeconds = scenario.tasks * static_cast<double>(scenario.mean.count()) * 1e-6;
      return alikeJobs(
          {.jobs = scenario.jobs,
           .tasks = scenario.tasks,
           .mean = scenario.mean,
           .durations = scenario.durations,
           .gapSeconds = unitSeconds / (scenario.load.value_or(0.5) * static_cast<double>(scenario.units())),
           .applications = applications},
          rng);
    }
    case WorkloadKind::kMixed:
      workload = mixedJobs({.jobs = scenario.jobs, .gap = scenario.gap, .applications = applications}, rng);
      break;
    case WorkloadKind::kReplay:
      workload = scenario.replay->workload;
      break;
    case WorkloadKind::kTrace:
      workload = workloadOf(*scenario.trace, applications, mostUnits(scenario));
      if (workload.jobs.size() > scenario.jobs) {
        workload.work.resize(workload.jobs[scenario.jobs].firstTask);
        workload.jobs.resize(scenario.jobs);
      }
      break;
  }
  if (scenario.load && scenario.workload != WorkloadKind::kAlike) {
    stretch(workload, *scenario.load, scenario.units());
  }
  if (scenario.replay) return workload;
  for (SimJob& job : workload.jobs) {
    const double wait = scenario.patience * static_cast<double>(workload.longest(job).count());
    job.maxWait = Duration(static_cast<int64_t>(wait));
  }
  return workload;
}

// The truth of a run and what is believed of it.
struct Truth {
  std::unique_ptr<GroundTruth> truth;  // null: no interference
  Belief belief;
};

Truth truthOf(const Scenario& scenario, uint64_t seed) {
  Rng rng = rngFor(seed, Purpose::kTruth), beliefRng = rngFor(seed, Purpose::kBelief);
  Truth made;
  switch (scenario.truth) {
    case TruthKind::kNone:
      if (scenario.replay) {
        made.belief = scenario.replay->belief;
        break;
      }
      made.belief.profiles.resize(1);
      made.belief.shares.resize(scenario.platforms.size(), fullShare());
      break;
    case TruthKind::kParametric: {
      ParametricOptions options;
      options.applications = scenario.applications;
      options.unitsOfPlatform.clear();
      for (const PlatformSize& platform : scenario.platforms)
        options.unitsOfPlatform.push_back(platform.units);
      options.combining = scenario.combining;
      options.heterogeneity = scenario.heterogeneity;
      options.mostPressure = scenario.mostPressure;
      auto truth = std::make_unique<ParametricTruth>(options, rng);
      made.belief = truth->belief(scenario.classificationError, beliefRng);
      made.truth = std::move(truth);
      break;
    }
    case TruthKind::kMeasured: {
      auto truth = std::make_unique<MeasuredTruth>(*scenario.coRuns);
      made.belief = truth->belief(scenario.classificationError, beliefRng);
      made.truth = std::move(truth);
      break;
    }
    case TruthKind::kProfiles:
      made.belief = scenario.replay->belief;
      made.truth = std::make_unique<ProfiledTruth>(made.belief, scenario.replay->backgrounds);
      break;
  }
  return made;
}

std::unique_ptr<Scheduler> schedulerOf(const Scenario& scenario, PolicyName policy, World& world,
                                       const Belief& belief, Rng rng) {
  const Duration oneWay = scenario.roundTrip / 2;
  const auto queues = [&](Sampling sampling) {
    return std::make_unique<ServerQueues>(
        world, ServerQueuesOptions{.sampling = sampling, .probeRatio = scenario.probeRatio, .oneWay = oneWay},
        rng);
  };
  const auto central = [&](Central choice, Duration delay) {
    return std::make_unique<CentralPolicy>(world, CentralOptions{.choice = choice, .oneWay = delay}, rng);
  };
  AgentsOptions agents;
  agents.settings = scenario.settings;
  agents.oneWay = oneWay;
  agents.waitBound = scenario.waitBound;
  switch (policy) {
    case PolicyName::kBatch:
      return queues(Sampling::kBatch);
    case PolicyName::kPerTask:
      return queues(Sampling::kPerTask);
    case PolicyName::kRandom:
      return queues(Sampling::kRandom);
    case PolicyName::kLateBinding:
      return std::make_unique<LateBinding>(
          world, LateBindingOptions{.probeRatio = scenario.probeRatio, .oneWay = oneWay}, rng);
    case PolicyName::kLeastLoaded:
      return central(Central::kLeastLoaded, oneWay);
    case PolicyName::kOmniscient:
      return central(Central::kAny, oneWay);
    case PolicyName::kIdeal:
      return central(world.truth() ? Central::kBestTruth : Central::kAny, Duration::zero());
    case PolicyName::kGreedy:
      agents.policy = Policy::kGreedy;
      agents.agents = 1;
      agents.decision.perSlot = scenario.scanPerSlot;
      agents.decision.bound = scenario.scanBound;
      break;
    case PolicyName::kQuality:
      agents.agents = scenario.agents;
      break;
  }
  return std::make_unique<Agents>(world, belief, agents, rng);
}

double meanOf(const std::vector<float>& values) {
  double sum = 0;
  for (float value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

// The value below which this part lies; 0 where there is none. Requires: ascending.
double at(const std::vector<float>& values, double part) {
  if (values.empty()) return 0;
  return values[static_cast<size_t>(part * static_cast<double>(values.size() - 1))];
}

Spread spreadOf(std::vector<float> values) {
  std::sort(values.begin(), values.end());
  return {.mean = meanOf(values), .p50 = at(values, 0.5), .p95 = at(values, 0.95), .p99 = at(values, 0.99)};
}

Low lowOf(const std::vector<float>& ascending) {
  return {.mean = meanOf(ascending), .p5 = at(ascending, 0.05), .p1 = at(ascending, 0.01)};
}

// How jobs fared, in the simulation or before.
struct Fates {
  const Workload& workload;
  const std::vector<JobOutcome>& outcomes;
  std::vector<float> qualities;  // of tasks; empty where they ran at full speed
};

void summarise(Fates fates, double warmUp, Summary& summary) {
  const Workload& workload = fates.workload;
  std::vector<float> responses, ideals, delays, waits;
  const auto first = static_cast<size_t>(warmUp * static_cast<double>(workload.jobs.size()));
  for (size_t number = 0; number < workload.jobs.size(); ++number) {
    const JobOutcome& outcome = fates.outcomes[number];
    if (outcome.unfinished > 0) {
      ++summary.unfinished;
      continue;
    }
    summary.simulatedSeconds =
        std::max(summary.simulatedSeconds, static_cast<double>(outcome.ended.count()) * 1e-6);
    const SimJob& job = workload.jobs[number];
    if (number < first || !job.isCounted) continue;
    const auto response = static_cast<double>((outcome.ended - job.arrival).count()) * 1e-3;
    const auto ideal = static_cast<double>(workload.longest(job).count()) * 1e-3;
    responses.push_back(static_cast<float>(response));
    ideals.push_back(static_cast<float>(ideal));
    delays.push_back(static_cast<float>(response - ideal));
    waits.push_back(static_cast<float>(static_cast<double>(outcome.waited.count()) * 1e-3));
    summary.performances.push_back(static_cast<float>(ideal / response));
  }
  summary.jobs = responses.size();
  summary.responseMs = spreadOf(std::move(responses));
  summary.idealMs = spreadOf(std::move(ideals));
  summary.delayMs = spreadOf(std::move(delays));
  const Spread waited = spreadOf(std::move(waits));
  summary.waitMeanMs = waited.mean;
  summary.waitP95Ms = waited.p95;
  std::vector<float>& performances = summary.performances;
  std::sort(performances.begin(), performances.end());
  summary.performance = lowOf(performances);
  const auto good = std::lower_bound(performances.begin(), performances.end(), 0.95F);
  if (!performances.empty()) {
    summary.atLeast95 =
        static_cast<double>(performances.end() - good) / static_cast<double>(performances.size());
  }
  std::vector<float>& qualities = fates.qualities;
  std::sort(qualities.begin(), qualities.end());
  summary.quality = qualities.empty() ? Low{.mean = 1, .p5 = 1, .p1 = 1} : lowOf(qualities);
}

// Part of all units that the jobs would hold from the beginning to the last arrival.
double loadOf(const Workload& workload, uint64_t units) {
  const double span = static_cast<double>(workload.jobs.back().arrival.count()) * 1e-6;
  return span > 0 ? workload.ruSeconds() / span / static_cast<double>(units) : 0;
}

}  // namespace

std::string_view name(PolicyName policy) {
  return kPolicyNames[static_cast<size_t>(policy)];
}

std::optional<PolicyName> policyNamed(std::string_view name) {
  const auto found = std::find(std::begin(kPolicyNames), std::end(kPolicyNames), name);
  if (found == std::end(kPolicyNames)) return std::nullopt;
  return static_cast<PolicyName>(found - std::begin(kPolicyNames));
}

uint64_t Scenario::units() const {
  uint64_t units = 0;
  for (const PlatformSize& platform : platforms) units += uint64_t{platform.units} * platform.servers;
  return units;
}

uint32_t Scenario::servers() const {
  uint32_t servers = 0;
  for (const PlatformSize& platform : platforms) servers += platform.servers;
  return servers;
}

std::vector<std::string> problems(const Scenario& scenario) {
  Check check;
  check.that(!scenario.platforms.empty(), "platforms: has none; write at least one");
  uint64_t servers = 0;
  for (const PlatformSize& platform : scenario.platforms) {
    check.range("platforms.rus", platform.units, 1U, kMostUnitsOfServer);
    check.range("platforms.servers", platform.servers, 1U, kMostServers);
    servers += platform.servers;
  }
  check.range<uint64_t>("servers", servers, 1, kMostServers);
  check.range<uint64_t>("resource units", scenario.units(), 1, kMostUnits);
  check.range<uint32_t>("jobs", scenario.jobs, scenario.replay ? 0 : 1, 10'000'000);
  check.range<uint32_t>("tasks", scenario.tasks, 1, kMaxTasks);
  if (scenario.workload == WorkloadKind::kAlike) {
    check.range<uint64_t>("jobs times tasks", uint64_t{scenario.jobs} * scenario.tasks, 1, kMostTasks);
  }
  if (scenario.trace) {
    uint64_t tasks = 0;
    for (const TraceJob& job : scenario.trace->jobs) tasks += job.tasks;
    check.range<uint64_t>("tasks of all jobs of the trace", tasks, 1, kMostTasks);
    const bool isWide = std::any_of(scenario.trace->jobs.begin(), scenario.trace->jobs.end(),
                                    [](const TraceJob& job) { return job.rus > 1; });
    check.that(
        !isWide || !bindsLate(scenario),
        "policies: late-binding places tasks of one unit, and the trace has larger ones; leave it out");
  }
  if (scenario.replay) {
    const Workload& workload = scenario.replay->workload;
    check.that(!workload.jobs.empty(), "recording: has no job that ran; record for longer");
    check.range<uint64_t>("tasks of all jobs of the recording", workload.work.size(), 0, kMostTasks);
    const bool isWide = std::any_of(workload.jobs.begin(), workload.jobs.end(),
                                    [](const SimJob& job) { return job.rus > 1; });
    check.that(
        !isWide || !bindsLate(scenario),
        "policies: late-binding places tasks of one unit, and the recording has larger ones; leave it out");
  }
  if (scenario.truth == TruthKind::kMeasured) {
    check.that(scenario.platforms.size() == 1,
               "platforms: co-runs were measured on one platform; write one, or truth.kind: parametric");
  }
  check.that(scenario.mean.count() > 0, "mean: is not above 0; write a duration such as 100ms");
  check.that(scenario.gap.count() > 0, "gap: is not above 0; write a duration such as 1s");
  if (scenario.load) check.range("load", *scenario.load, 0.001, 10.0);
  check.range("warm_up", scenario.warmUp, 0.0, 0.99);
  check.range<uint32_t>("applications", scenario.applications, 1, 10'000);
  check.range("heterogeneity", scenario.heterogeneity, 0.0, 0.9);
  check.range("pressure", scenario.mostPressure, 0.001, 10.0);
  check.range("classification_error", scenario.classificationError, 0.0, 1.0);
  check.that(!scenario.policies.empty(), "policies: has none; write at least one");
  check.that(!scenario.seeds.empty(), "seeds: has none; write at least one");
  check.range<uint32_t>("agents", scenario.agents, 1, 1'000);
  check.range("probe_ratio", scenario.probeRatio, 1.0, 100.0);
  check.range("patience", scenario.patience, 0.0, 1'000.0);
  check.that(scenario.roundTrip.count() >= 0, "rtt: is below 0; write a duration such as 1ms");
  std::vector<std::string> found = check.found();
  for (std::string& problem : problems(scenario.settings)) found.push_back(std::move(problem));
  return found;
}

void lay(const Recording& recording, ReplayTruth truth, Scenario& scenario) {
  scenario.workload = WorkloadKind::kReplay;
  scenario.truth = truth == ReplayTruth::kProfiles ? TruthKind::kProfiles : TruthKind::kNone;
  scenario.settings = recording.settings;
  scenario.warmUp = 0;
  scenario.replay = std::make_shared<const Replay>(replayOf(recording, truth));
  scenario.jobs = static_cast<uint32_t>(scenario.replay->workload.jobs.size());
  std::map<uint32_t, uint32_t> serversOfSize;
  for (const SimServer& server : scenario.replay->servers) ++serversOfSize[server.units];
  scenario.platforms.clear();
  for (const auto& [units, servers] : serversOfSize) scenario.platforms.push_back({units, servers});
}

Summary recordedSummary(const Scenario& scenario) {
  const Replay& replay = *scenario.replay;
  Summary summary;
  summary.servers = scenario.servers();
  summary.rus = scenario.units();
  summary.load = loadOf(replay.workload, summary.rus);
  summary.utilisation = replay.utilisation;
  std::vector<float> qualities;
  if (scenario.truth != TruthKind::kNone) qualities = replay.qualities;
  summarise({replay.workload, replay.outcomes, std::move(qualities)}, scenario.warmUp, summary);
  return summary;
}

Summary simulate(const Scenario& scenario, PolicyName policy, uint64_t seed,
                 const std::function<void(const Progress&)>& watch) {
  Truth truth = truthOf(scenario, seed);
  const uint16_t applications = truth.truth ? truth.truth->applications() : uint16_t{1};
  const Workload workload = workloadOf(scenario, applications, rngFor(seed, Purpose::kWorkload));
  std::vector<SimServer> servers;
  if (scenario.replay) servers = scenario.replay->servers;
  for (PlatformNumber platform = 0;
       !scenario.replay && platform < static_cast<PlatformNumber>(scenario.platforms.size()); ++platform) {
    const PlatformSize& size = scenario.platforms[platform];
    servers.insert(servers.end(), size.servers, {.platform = platform, .units = size.units});
  }
  World world(servers, workload, truth.truth.get());
  const auto scheduler = schedulerOf(scenario, policy, world, truth.belief, rngFor(seed, Purpose::kPolicy));
  world.run(*scheduler, watch);

  Summary summary;
  summary.policy = policy;
  summary.seed = seed;
  summary.servers = scenario.servers();
  summary.rus = scenario.units();
  summary.load = loadOf(workload, summary.rus);
  summary.utilisation = world.utilisation();
  summarise({workload, world.outcomes(), world.taskQualities()}, scenario.warmUp, summary);
  const SchedulerCounts counts = scheduler->counts();
  const Spread decisions = spreadOf(counts.decisionMicros);
  summary.decisionP50Us = decisions.p50;
  summary.decisionP99Us = decisions.p99;
  summary.conflicts = counts.conflicts;
  summary.violations = world.violations();
  summary.events = world.events();
  return summary;
}

}  // namespace tarcil::sim
