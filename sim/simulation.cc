#include "sim/simulation.h"

#include <utility>

#include "sim/bound.h"
#include "sim/chance.h"
#include "sim/policies/policies.h"
#include "sim/scenario_parts.h"

namespace tarcil::sim {

namespace {

// What was run.
void identify(Summary& summary, const Scenario& scenario, const Workload& workload, uint64_t seed) {
  summary.seed = seed;
  summary.servers = scenario.servers();
  summary.rus = scenario.units();
  summary.load = loadOf(workload, summary.rus);
}

}  // namespace

Summary simulate(const Scenario& scenario, PolicyName policy, uint64_t seed,
                 const std::function<void(const Progress&)>& watch) {
  Truth truth = truthOf(scenario, seed);
  const uint16_t applications = truth.applications();
  const Workload workload = workloadOf(scenario, applications, rngFor(seed, Purpose::kWorkload));
  const std::vector<SimServer> servers = serversOf(scenario, applications, rngFor(seed, Purpose::kResidents));
  Summary summary;
  if (policy == PolicyName::kBound) {
    const size_t first = firstCounted(scenario, workload);
    summary = boundSummary(performanceBound(servers, workload, truth.truth.get(), first));
    identify(summary, scenario, workload, seed);
    summary.jobs = workload.jobs.size() - first;
    return summary;
  }
  World world(servers, workload, truth.truth.get());
  const auto scheduler = schedulerOf(scenario, policy, world, truth.belief, rngFor(seed, Purpose::kPolicy));
  if (scenario.moments > 0) {
    // Rounded up, so that there are no more than were asked for.
    const Duration every = workload.jobs.back().arrival / (scenario.moments + 1) + Duration(1);
    world.observe(every, [&world, &summary](SimTime at) { summary.moments.push_back(momentOf(world, at)); });
  }
  world.run(*scheduler, watch);

  summary.policy = policy;
  identify(summary, scenario, workload, seed);
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

}  // namespace tarcil::sim
