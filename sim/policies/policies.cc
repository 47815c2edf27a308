#include "sim/policies/policies.h"

#include "sim/policies/central.h"
#include "sim/policies/late_binding.h"
#include "sim/policies/oracle.h"
#include "sim/policies/server_queues.h"
#include "sim/policies/shared_state/shared_state.h"

namespace tarcil::sim {

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
  agents.agents = scenario.agents;
  agents.settings = scenario.settings;
  agents.oneWay = oneWay;
  agents.waitBound = scenario.waitBound;
  agents.buckets = scenario.buckets;
  agents.decision.fixed = scenario.decision;
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
      if (world.truth()) return std::make_unique<Oracle>(world);
      return central(Central::kAny, Duration::zero(), Duration::zero());
    case PolicyName::kBound:
      return nullptr;
    case PolicyName::kGreedy:
      agents.policy = Policy::kGreedy;
      agents.agents = 1;
      agents.decision.perSlot = scenario.scanPerSlot;
      agents.decision.bound = scenario.scanBound;
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
