#include "sim/scenario_parts.h"

#include <algorithm>
#include <cmath>

#include "sim/chance.h"
#include "sim/ground_truth/classified_belief.h"
#include "sim/replay/profiled_truth.h"

namespace tarcil::sim {
namespace {

uint32_t mostUnits(const Scenario& scenario) {
  uint32_t most = 0;
  for (const PlatformSize& platform : scenario.platforms) most = std::max(most, platform.units);
  return most;
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

// What schedulers are told of a truth that has a classifier.
template <typename Of>
Belief beliefOf(const Scenario& scenario, const Of& truth, Rng& rng) {
  if (scenario.profiles == ProfileSource::kTruth) return truth.belief(scenario.classificationError, rng);
  return classifiedBelief(truth, {.probes = scenario.probes, .noise = scenario.noise}, rng);
}

}  // namespace

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
    case WorkloadKind::kHeavyTailed:
      workload = heavyTailedJobs({.jobs = scenario.jobs, .applications = applications}, rng);
      stretch(workload, scenario.load.value_or(0.5), scenario.units());
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
  if (scenario.noise > 0) {
    for (size_t task = 0; task < workload.work.size(); ++task) {
      workload.pace.push_back(between(1 - scenario.noise, 1, rng));
    }
  }
  if (scenario.replay) return workload;
  for (SimJob& job : workload.jobs) {
    const double wait = scenario.patience * static_cast<double>(workload.longest(job).count());
    job.maxWait = Duration(static_cast<int64_t>(wait));
  }
  return workload;
}

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
      options.phases = scenario.phases;
      options.phaseChange = scenario.phaseChange;
      auto truth = std::make_unique<ParametricTruth>(options, rng);
      made.belief = beliefOf(scenario, *truth, beliefRng);
      made.truth = std::move(truth);
      break;
    }
    case TruthKind::kMeasured: {
      auto truth = std::make_unique<MeasuredTruth>(*scenario.coRuns);
      made.belief = beliefOf(scenario, *truth, beliefRng);
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

std::vector<SimServer> serversOf(const Scenario& scenario, uint16_t applications, Rng rng) {
  std::vector<SimServer> servers;
  if (scenario.replay) servers = scenario.replay->servers;
  for (PlatformNumber platform = 0;
       !scenario.replay && platform < static_cast<PlatformNumber>(scenario.platforms.size()); ++platform) {
    const PlatformSize& size = scenario.platforms[platform];
    servers.insert(servers.end(), size.servers, {.platform = platform, .units = size.units});
  }
  settle(scenario.residents, applications, servers, rng);
  return servers;
}

}  // namespace tarcil::sim
