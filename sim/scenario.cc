#include "sim/scenario.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "sim/chance.h"
#include "sim/policies/central.h"
#include "sim/policies/late_binding.h"
#include "sim/policies/server_queues.h"
#include "sim/policies/shared_state/shared_state.h"
#include "sim/replay/profiled_truth.h"

namespace tarcil::sim {
namespace {

constexpr uint32_t kMaxServers = 100'000;
constexpr uint64_t kMaxUnits = 1'000'000;
constexpr uint32_t kMaxUnitsOfServer = 4'096;
constexpr uint64_t kMaxTasks = 50'000'000;

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

void checkStreams(const Scenario& scenario, Check& check) {
  check.range<size_t>("streams", scenario.streams.size(), 1, 256);
  check.that(scenario.span.count() > 0, "span: is not above 0; write a duration such as 60s");
  double tasks = 0;
  for (const Stream& stream : scenario.streams) {
    check.range("streams.load", stream.load, 0.0001, 10.0);
    check.range<uint32_t>("streams.tasks", stream.tasks, 1, kMaxTasks);
    check.range<uint32_t>("streams.shares", stream.shares, 1, UINT16_MAX);
    check.range<uint32_t>("streams.priority", stream.priority, 0, 100);
    check.that(stream.mean.count() > 0, "streams.mean: is not above 0; write a duration such as 100ms");
    const Duration until = std::min(stream.until.value_or(scenario.span), scenario.span);
    check.that(stream.from < until, "streams.from: is not before until and span; write an earlier time");
    tasks += stream.load * static_cast<double>(scenario.units()) *
             static_cast<double>((until - stream.from).count()) / static_cast<double>(stream.mean.count());
  }
  check.that(tasks >= 1 && tasks <= static_cast<double>(kMaxTasks),
             "span: gives " + std::to_string(static_cast<int64_t>(tasks)) +
                 " tasks; write one that gives 1 to " + std::to_string(kMaxTasks));
}

bool bindsLate(const Scenario& scenario) {
  return std::any_of(scenario.policies.begin(), scenario.policies.end(), [](PolicyName policy) {
    return name(policy).starts_with(name(PolicyName::kLateBinding));
  });
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
      workload = alikeJobs({.jobs = scenario.jobs,
                            .tasks = scenario.tasks,
                            .mean = scenario.mean,
                            .durations = scenario.durations,
                            .gapSeconds = unitSeconds / static_cast<double>(scenario.units()),
                            .applications = applications},
                           rng);
      // To the load itself and not only in the mean: queues depend on the last percent of it.
      stretch(workload, scenario.load.value_or(0.5), scenario.units());
      break;
    }
    case WorkloadKind::kStreams:
      workload = streamJobs({.streams = scenario.streams,
                             .span = scenario.span,
                             .units = scenario.units(),
                             .applications = applications},
                            rng);
      break;
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
  const bool isTimed = scenario.workload == WorkloadKind::kMixed || scenario.workload == WorkloadKind::kTrace;
  if (scenario.load && isTimed) {
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
  const auto central = [&](Central choice, Duration delay, Duration perTask) {
    return std::make_unique<CentralPolicy>(
        world, CentralOptions{.choice = choice, .oneWay = delay, .perTask = perTask}, rng);
  };
  SharedStateOptions agents;
  agents.settings = scenario.settings;
  agents.oneWay = oneWay;
  agents.waitBound = scenario.waitBound;
  agents.buckets = scenario.buckets;
  switch (policy) {
    case PolicyName::kBatch:
      return queues(Sampling::kBatch);
    case PolicyName::kPerTask:
      return queues(Sampling::kPerTask);
    case PolicyName::kRandom:
      return queues(Sampling::kRandom);
    case PolicyName::kLateBinding:
    case PolicyName::kLateBindingAware:
    case PolicyName::kLateBindingAdaptive:
      return std::make_unique<LateBinding>(
          world, belief,
          LateBindingOptions{.probeRatio = scenario.probeRatio,
                             .adaptRatio = policy == PolicyName::kLateBindingAdaptive,
                             .carriesProfiles = policy == PolicyName::kLateBindingAware,
                             .cancel = scenario.cancel,
                             .oneWay = oneWay},
          rng);
    case PolicyName::kLeastLoaded:
      return central(Central::kLeastLoaded, oneWay, scenario.dispatch);
    case PolicyName::kOmniscient:
      return central(Central::kAny, oneWay, scenario.dispatch);
    case PolicyName::kIdeal:
      return central(world.truth() ? Central::kBestTruth : Central::kAny, Duration::zero(), Duration::zero());
    case PolicyName::kGreedy:
      agents.policy = Policy::kGreedy;
      agents.agents = 1;
      agents.decision.perSlot = scenario.scanPerSlot;
      agents.decision.bound = scenario.scanBound;
      break;
    case PolicyName::kQuality:
      agents.agents = scenario.agents;
      agents.decision.fixed = scenario.decision;
      break;
  }
  return std::make_unique<SharedState>(world, belief, agents, rng);
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
  return {.mean = meanOf(values),
          .p5 = at(values, 0.05),
          .p25 = at(values, 0.25),
          .p50 = at(values, 0.5),
          .p75 = at(values, 0.75),
          .p95 = at(values, 0.95),
          .p99 = at(values, 0.99)};
}

Low lowOf(const std::vector<float>& ascending) {
  return {.mean = meanOf(ascending), .p5 = at(ascending, 0.05), .p1 = at(ascending, 0.01)};
}

// How jobs fared, in the simulation or before.
struct Fates {
  const Workload& workload;
  const std::vector<JobOutcome>& outcomes;
  std::vector<float> qualities;    // of tasks; empty where they ran at full speed
  std::vector<float> ofResidents;  // their qualities
};

void summarise(Fates fates, const Scenario& scenario, Summary& summary) {
  const Workload& workload = fates.workload;
  std::vector<float> responses, ideals, delays, waits;
  std::vector<std::vector<float>> ofStreams(scenario.streams.size());
  summary.streams.resize(scenario.streams.size());
  const double messagesMs = 1.5 * static_cast<double>(scenario.roundTrip.count()) * 1e-3;
  const auto first = static_cast<size_t>(scenario.warmUp * static_cast<double>(workload.jobs.size()));
  for (size_t number = 0; number < workload.jobs.size(); ++number) {
    const JobOutcome& outcome = fates.outcomes[number];
    const SimJob& job = workload.jobs[number];
    const bool isCounted = number >= first && job.isCounted;
    if (outcome.unfinished > 0) {
      ++summary.unfinished;
      if (isCounted) summary.responses.push_back(0);
      continue;
    }
    summary.simulatedSeconds =
        std::max(summary.simulatedSeconds, static_cast<double>(outcome.ended.count()) * 1e-6);
    if (!isCounted) continue;
    const auto response = static_cast<double>((outcome.ended - job.arrival).count()) * 1e-3;
    summary.responses.push_back(static_cast<float>(response));
    const auto ideal = static_cast<double>(workload.longest(job).count()) * 1e-3;
    responses.push_back(static_cast<float>(response));
    ideals.push_back(static_cast<float>(ideal));
    delays.push_back(static_cast<float>(response - ideal));
    waits.push_back(static_cast<float>(static_cast<double>(outcome.waited.count()) * 1e-3));
    summary.performances.push_back(static_cast<float>(ideal / response));
    summary.atOnce += response - ideal <= messagesMs + 1e-6 ? 1 : 0;
    if (ofStreams.empty()) continue;
    ofStreams[job.stream].push_back(static_cast<float>(response));
    summary.streams[job.stream].performance += ideal / response;
  }
  if (!responses.empty()) summary.atOnce /= static_cast<double>(responses.size());
  for (size_t i = 0; i < ofStreams.size(); ++i) {
    StreamSummary& stream = summary.streams[i];
    stream.name = scenario.streams[i].name;
    stream.jobs = ofStreams[i].size();
    if (stream.jobs > 0) stream.performance /= static_cast<double>(stream.jobs);
    stream.responseMs = spreadOf(std::move(ofStreams[i]));
  }
  summary.jobs = responses.size();
  summary.responseMs = spreadOf(std::move(responses));
  summary.idealMs = spreadOf(std::move(ideals));
  summary.delayMs = spreadOf(std::move(delays));
  summary.waitMs = spreadOf(std::move(waits));
  std::vector<float>& performances = summary.performances;
  std::sort(performances.begin(), performances.end());
  summary.performance = lowOf(performances);
  const auto good = std::lower_bound(performances.begin(), performances.end(), 0.95F);
  if (!performances.empty()) {
    summary.atLeast95 =
        static_cast<double>(performances.end() - good) / static_cast<double>(performances.size());
  }
  const Low undisturbed{.mean = 1, .p5 = 1, .p1 = 1};
  summary.qualities = std::move(fates.qualities);
  std::sort(summary.qualities.begin(), summary.qualities.end());
  summary.quality = summary.qualities.empty() ? undisturbed : lowOf(summary.qualities);
  std::sort(fates.ofResidents.begin(), fates.ofResidents.end());
  summary.residentQuality = fates.ofResidents.empty() ? undisturbed : lowOf(fates.ofResidents);
}

// Puts residents on servers by chance until they hold their part of all units, or no server has room.
void settle(const Residents& residents, uint16_t applications, std::vector<SimServer>& servers, Rng rng) {
  uint64_t units = 0;
  std::vector<ServerNumber> withRoom;
  for (ServerNumber server = 0; server < servers.size(); ++server) {
    units += servers[server].units;
    if (servers[server].units >= residents.rus) withRoom.push_back(server);
  }
  const double most = residents.part * static_cast<double>(units);
  for (uint64_t held = residents.rus; static_cast<double>(held) <= most && !withRoom.empty();
       held += residents.rus) {
    const size_t position = rng.below(withRoom.size());
    SimServer& server = servers[withRoom[position]];
    server.residents.push_back(
        {.application = static_cast<ApplicationNumber>(rng.below(applications)), .rus = residents.rus});
    if (server.capacity() >= residents.rus) continue;
    withRoom[position] = withRoom.back();
    withRoom.pop_back();
  }
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
    check.range("platforms.rus", platform.units, 1U, kMaxUnitsOfServer);
    check.range("platforms.servers", platform.servers, 1U, kMaxServers);
    servers += platform.servers;
  }
  check.range<uint64_t>("servers", servers, 1, kMaxServers);
  check.range<uint64_t>("resource units", scenario.units(), 1, kMaxUnits);
  check.range("residents.part", scenario.residents.part, 0.0, 0.9);
  check.range("residents.rus", scenario.residents.rus, 1U, kMaxUnitsOfServer);
  if (scenario.workload == WorkloadKind::kStreams) checkStreams(scenario, check);
  check.range<uint32_t>("jobs", scenario.jobs, scenario.replay ? 0 : 1, 10'000'000);
  check.range<uint32_t>("tasks", scenario.tasks, 1, kMaxTasks);
  if (scenario.workload == WorkloadKind::kAlike) {
    check.range<uint64_t>("jobs times tasks", uint64_t{scenario.jobs} * scenario.tasks, 1, kMaxTasks);
  }
  if (scenario.trace) {
    uint64_t tasks = 0;
    for (const TraceJob& job : scenario.trace->jobs) tasks += job.tasks;
    check.range<uint64_t>("tasks of all jobs of the trace", tasks, 1, kMaxTasks);
    const bool isWide = std::any_of(scenario.trace->jobs.begin(), scenario.trace->jobs.end(),
                                    [](const TraceJob& job) { return job.rus > 1; });
    check.that(
        !isWide || !bindsLate(scenario),
        "policies: late-binding places tasks of one unit, and the trace has larger ones; leave it out");
  }
  if (scenario.replay) {
    const Workload& workload = scenario.replay->workload;
    check.that(!workload.jobs.empty(), "recording: has no job that ran; record for longer");
    check.range<uint64_t>("tasks of all jobs of the recording", workload.work.size(), 0, kMaxTasks);
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
  check.range<uint32_t>("buckets", scenario.buckets, 1, 256);
  check.range<uint32_t>("moments", scenario.moments, 0, 100'000);
  check.that(scenario.decision.count() >= 0, "decision: is below 0; write a duration such as 2us");
  check.that(scenario.dispatch.count() >= 0, "dispatch: is below 0; write a duration such as 667us");
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
  summarise({replay.workload, replay.outcomes, std::move(qualities), {}}, scenario, summary);
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
  settle(scenario.residents, applications, servers, rngFor(seed, Purpose::kResidents));
  World world(servers, workload, truth.truth.get());
  const auto scheduler = schedulerOf(scenario, policy, world, truth.belief, rngFor(seed, Purpose::kPolicy));
  Summary summary;
  if (scenario.moments > 0) {
    // Rounded up, so that there are no more than were asked for.
    const Duration every = workload.jobs.back().arrival / (scenario.moments + 1) + Duration(1);
    world.observe(every, [&world, &summary](SimTime at) { summary.moments.push_back(momentOf(world, at)); });
  }
  world.run(*scheduler, watch);

  summary.policy = policy;
  summary.seed = seed;
  summary.servers = scenario.servers();
  summary.rus = scenario.units();
  summary.load = loadOf(workload, summary.rus);
  summary.utilisation = world.utilisation();
  std::vector<float> qualities;
  if (world.truth()) qualities = world.taskQualities();
  summarise({workload, world.outcomes(), std::move(qualities), world.residentQualities()}, scenario, summary);
  const SchedulerCounts counts = scheduler->counts();
  summary.decisionUs = spreadOf(counts.decisionMicros);
  summary.conflicts = counts.conflicts;
  summary.violations = world.violations();
  summary.events = world.events();
  return summary;
}

void compareWithIdealPolicy(std::vector<Summary>& runs) {
  for (Summary& run : runs) {
    const auto ideal = std::find_if(runs.begin(), runs.end(), [&run](const Summary& other) {
      return other.policy == PolicyName::kIdeal && other.seed == run.seed;
    });
    if (ideal == runs.end()) continue;
    std::vector<float> parts;
    for (size_t i = 0; i < run.responses.size(); ++i) {
      const bool bothEnded = run.responses[i] > 0 && ideal->responses[i] > 0;
      if (bothEnded) parts.push_back(ideal->responses[i] / run.responses[i]);
    }
    std::sort(parts.begin(), parts.end());
    run.ofIdealPolicy = lowOf(parts);
  }
}

}  // namespace tarcil::sim
