#include "sim/policies/policies.h"

#include <utility>

#include "sim/policies/backfill.h"
#include "sim/policies/central.h"
#include "sim/policies/full_scan.h"
#include "sim/policies/late_binding.h"
#include "sim/policies/oracle.h"
#include "sim/policies/scored_choice.h"
#include "sim/policies/server_choice.h"
#include "sim/policies/server_queues.h"
#include "sim/policies/shared_state/shared_state.h"

namespace tarcil::sim {

std::unique_ptr<Scheduler> schedulerOf(const Scenario& scenario, PolicyName policy, World& world,
                                       const Belief& belief, Rng rng) {
  const Duration oneWay = scenario.roundTrip / 2;
  SharedStateOptions agents;
  agents.agents = scenario.agents;
  agents.settings = scenario.settings;
  agents.oneWay = oneWay;
  agents.waitBound = scenario.waitBound;
  agents.buckets = scenario.buckets;
  agents.decision.fixed = scenario.decision;
  const DecisionTime scan{
      .fixed = scenario.decision, .perSlot = scenario.scanPerSlot, .bound = scenario.scanBound};
  const CentralOptions asAgents{.launch = launchCostsOf(oneWay, agents.durable), .decision = scan};
  const auto queues = [&](Sampling sampling, Duration toStart) {
    const ServerQueuesOptions options{
        .sampling = sampling, .probeRatio = scenario.probeRatio, .oneWay = oneWay, .toStart = toStart};
    return std::make_unique<ServerQueues>(world, options, rng);
  };
  const auto central = [&world](std::unique_ptr<ServerChoice> choice, const CentralOptions& options) {
    return std::make_unique<CentralPolicy>(world, std::move(choice), options);
  };
  switch (policy) {
    case PolicyName::kBatch:
      return queues(Sampling::kBatch, oneWay);
    case PolicyName::kPerTask:
      return queues(Sampling::kPerTask, oneWay);
    case PolicyName::kRandom:
      return queues(Sampling::kRandom, oneWay);
    case PolicyName::kRandomRetry:
      return queues(Sampling::kRandomRetry, asAgents.launch.toStart);
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
      return central(leastLoadedServer(world), asAgents);
    case PolicyName::kMostAllocated:
      return central(highestScore(world, mostAllocated, rng), asAgents);
    case PolicyName::kLeastAllocated:
      return central(highestScore(world, leastAllocated, rng), asAgents);
    case PolicyName::kBestFit:
      return central(highestScore(world, bestFit, rng), asAgents);
    case PolicyName::kGreedyLeastLoaded:
      return central(fullScan(world, belief, scenario.settings, scenario.waitBound, rng), asAgents);
    case PolicyName::kBackfill:
      return std::make_unique<Backfill>(world, asAgents);
    case PolicyName::kOmniscient:
      return central(anyServer(world, rng), {.launch = {.toStart = oneWay, .toRelease = oneWay},
                                             .decision = {.fixed = scenario.dispatch, .perSlot{}}});
    case PolicyName::kIdeal:
      if (world.truth()) return std::make_unique<Oracle>(world);
      return central(anyServer(world, rng), {.launch{}, .decision = {.fixed{}, .perSlot{}}});
    case PolicyName::kBound:
      return nullptr;
    case PolicyName::kGreedy:
      agents.policy = Policy::kGreedy;
      agents.agents = 1;
      agents.decision = scan;
      break;
    case PolicyName::kQuality:
      break;
    case PolicyName::kAgentBatch:
      agents.policy = Policy::kBatch;
      break;
    case PolicyName::kAgentPerTask:
      agents.policy = Policy::kPerTask;
      break;
    case PolicyName::kAgentRandom:
      agents.policy = Policy::kRandom;
      break;
  }
  return std::make_unique<SharedState>(world, belief, agents, rng);
}

}  // namespace tarcil::sim
