// The policies of master and agents in the simulator: what agents on copies do to one another.
#include "sim/policies/shared_state/shared_state.h"

#include <gtest/gtest.h>

#include "sim/chance.h"
#include "sim/simulation.h"

namespace tarcil::sim::sim_shared_state_test {

// Two agents, one server of one unit, two jobs at the same moment.
TEST(SharedState, RefuseTheSecondClaimOfAUnitAndRunItLater) {
  const std::vector<SimServer> servers{{.units = 1}};
  Workload workload;
  workload.add({.arrival = SimTime(1'000)}, 1, std::chrono::milliseconds(50));
  workload.add({.arrival = SimTime(1'000)}, 1, std::chrono::milliseconds(50));
  Belief belief;
  belief.profiles.resize(1);
  belief.shares.push_back(fullShare());
  World world(servers, workload, nullptr);
  SharedStateOptions options;
  options.agents = 2;
  SharedState agents(world, belief, options, Rng(1));
  world.run(agents);
  EXPECT_EQ(world.jobsDone(), 2u);
  EXPECT_EQ(world.violations(), 0u);
  EXPECT_EQ(agents.counts().conflicts, 1u);
  // Decision 3 us, commit and answer 1 ms and 0.3 for the disk, launch 0.5.
  EXPECT_EQ(world.outcomes()[0].ended, SimTime(1'000 + 3 + 500 + 300 + 500 + 500 + 50'000));
  EXPECT_GT(world.outcomes()[1].ended, world.outcomes()[0].ended + std::chrono::milliseconds(50));
}

// How long a job waits that the profiles do not allow beside another one, which takes so long, for no price.
Duration waitBesideALoudJob(Duration loudTakes, Duration maxWait) {
  const std::vector<SimServer> servers{{.units = 2}};
  Workload workload;
  workload.add({.arrival = SimTime(0)}, 1, loudTakes);
  workload.add({.arrival = SimTime(1'000), .application = 1, .maxWait = maxWait}, 1, std::chrono::seconds(1));
  Belief belief;
  belief.profiles.resize(2);
  belief.profiles[0].caused.fill(60);
  belief.profiles[1].tolerated.fill(10);
  belief.shares.push_back(fullShare());
  World world(servers, workload, nullptr);
  SharedStateOptions options;
  options.settings.ranking = RankBy::kQuality;
  SharedState agents(world, belief, options, Rng(1));
  world.run(agents);
  return world.outcomes()[1].waited;
}

// A job that nobody's profile allows beside the other takes what there is once it has waited for its bound.
TEST(SharedState, TakeTheBestThereIsAtTheBound) {
  const Duration waited = waitBesideALoudJob(std::chrono::seconds(60), std::chrono::seconds(2));
  EXPECT_GE(waited, std::chrono::seconds(2));
  EXPECT_LT(waited, std::chrono::seconds(3));
}

TEST(SharedState, WaitForAGoodPlaceThatComesInTime) {
  const Duration waited = waitBesideALoudJob(std::chrono::seconds(1), std::chrono::seconds(20));
  EXPECT_GE(waited, std::chrono::milliseconds(999));
  EXPECT_LT(waited, std::chrono::milliseconds(1'100));
}

TEST(SharedState, GreedyTakesItsTimeForEachFreeSlotUpToItsBound) {
  Scenario scenario;
  scenario.truth = TruthKind::kNone;
  scenario.platforms = {{.units = 10, .servers = 10}};
  scenario.jobs = 1;
  scenario.tasks = 1;
  scenario.warmUp = 0;
  scenario.durations = Durations::kConstant;
  scenario.scanPerSlot = std::chrono::microseconds(250);
  // 100 slots at 250 us, then two ms of messages, 0.3 of the disk, 0.002 of the decision itself.
  EXPECT_NEAR(simulate(scenario, PolicyName::kGreedy, 1).delayMs.mean, 25 + 1.5 + 0.5 - 0.2 + 0.002, 0.01);
  scenario.scanBound = std::chrono::milliseconds(10);
  EXPECT_NEAR(simulate(scenario, PolicyName::kGreedy, 1).delayMs.mean, 10 + 1.5 + 0.5 - 0.2 + 0.002, 0.01);
}

// The answer to the first job's commit comes while the agent decides on the second one.
TEST(SharedState, WhatComesWhileAnAgentDecidesWaitsUntilItIsDone) {
  const std::vector<SimServer> servers{{.units = 10}};
  Workload workload;
  workload.add({.arrival = SimTime(1'000)}, 1, std::chrono::milliseconds(500));
  workload.add({.arrival = SimTime(1'000)}, 1, std::chrono::milliseconds(500));
  Belief belief;
  belief.profiles.resize(1);
  belief.shares.push_back(fullShare());
  World world(servers, workload, nullptr);
  SharedStateOptions options;
  options.policy = Policy::kGreedy;
  options.agents = 1;
  options.decision = {.fixed = Duration::zero(), .perSlot = std::chrono::milliseconds(1)};
  SharedState policy(world, belief, options, Rng(1));
  world.run(policy);
  // Ten free slots, then nine; then a launch.
  EXPECT_EQ(world.outcomes()[0].waited, Duration(10'000 + 9'000 + 500));
  // The second one's commit leaves when the agent is done.
  EXPECT_EQ(world.outcomes()[1].waited, Duration(10'000 + 9'000 + 500 + 300 + 500 + 500));
  EXPECT_EQ(policy.counts().decisions, 2u);
}

// Residents hold units of theirs, and what they bear counts.
TEST(SharedState, DoNotDisturbResidents) {
  std::vector<SimServer> servers(2, {.units = 4});
  servers[0].residents = {{.application = 1, .rus = 2}};
  Workload workload;
  workload.add({.arrival = SimTime(1'000)}, 4, std::chrono::milliseconds(500));
  Belief belief;
  belief.profiles.resize(2);
  belief.profiles[0].caused.fill(60);
  belief.profiles[1].tolerated.fill(10);
  belief.shares.push_back(fullShare());
  World world(servers, workload, nullptr);
  SharedState policy(world, belief, SharedStateOptions{}, Rng(1));
  world.run(policy);
  EXPECT_EQ(world.violations(), 0u);
  EXPECT_EQ(world.outcomes()[0].ended, SimTime(1'000) + world.outcomes()[0].waited + Duration(500'000))
      << "all at once, on the server without a resident";
}

TEST(SharedState, MoreOfThemConflictMore) {
  Scenario scenario;
  scenario.truth = TruthKind::kNone;
  scenario.platforms = {{.units = 4, .servers = 20}};
  scenario.jobs = 3'000;
  scenario.tasks = 2;
  scenario.load = 0.9;
  scenario.mean = std::chrono::milliseconds(20);
  const auto conflicts = [&scenario](uint32_t agents) {
    scenario.agents = agents;
    return simulate(scenario, PolicyName::kQuality, 1).conflicts;
  };
  EXPECT_EQ(conflicts(1), 0u);
  EXPECT_GT(conflicts(10), 10u);
}

}  // namespace tarcil::sim::sim_shared_state_test
