// Units that are lent to late-bound tasks beside the jobs that need them, on a virtual clock: whatever
// breaks, a unit has one owner at a time, jobs get what they wait for, and all units come back in the end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "latebinding/names.h"
#include "tests/deterministic/work.h"

namespace tarcil::deterministic_pools_test {

using namespace std::chrono_literals;

constexpr uint64_t kSeeds = 12;

// Every second server lends its units.
sim::VirtualClusterOptions lending(uint64_t seed) {
  sim::VirtualClusterOptions options = withSeed(seed);
  for (uint32_t monitor = 0; monitor < 3; ++monitor) {
    std::vector<ServerFacts> servers(2);
    for (uint32_t i = 0; i < 2; ++i) {
      servers[i].name = "s" + std::to_string(2 * monitor + i);
      servers[i].platform = "reference";
      servers[i].rus = servers[i].cores = 4;
      servers[i].memoryBytes = uint64_t{4} << 30;
    }
    servers[0].attributes[std::string(late::kServerAttribute)] = "4";
    options.servers.push_back(servers);
  }
  return options;
}

void wantLateTasks(sim::VirtualCluster& cluster, bool areWanted) {
  for (uint32_t i = 0; i < cluster.monitors(); ++i) cluster.monitor(i).pools().wantTasks(areWanted);
}

uint64_t lateTasks(sim::VirtualCluster& cluster) {
  uint64_t count = 0;
  for (uint32_t i = 0; i < cluster.monitors(); ++i) count += cluster.monitor(i).pools().started();
  return count;
}

// Jobs that need units, and bear each other: a pool is drained where units are too few, not where their
// neighbours are too loud.
void submitBearable(sim::VirtualCluster& cluster, uint32_t number) {
  cluster.submit(sleeping(1 + number % 9, number % 3 == 0 ? "2" : "0.3", {{Resource::kLlc, 2}}), number % 2);
}

// More work than there are units, while late-bound tasks come without end and something breaks again
// and again.
template <typename Break>
void expectOneOwner(Break breakSomething) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    sim::VirtualCluster cluster(lending(seed));
    wantLateTasks(cluster, true);
    cluster.run(100ms);
    for (uint32_t number = 0; number < 15; ++number) {
      submitBearable(cluster, number);
      cluster.run(upTo(30ms, cluster));
      if (number % 3 == 2) breakSomething(cluster);
      cluster.run(upTo(100ms, cluster));
    }
    EXPECT_TRUE(cluster.runUntilIdle(kPatience)) << "jobs wait for units that are lent out";
    EXPECT_GT(lateTasks(cluster), 50u);
    wantLateTasks(cluster, false);
    cluster.run(5s);  // pools shrink
    expectAllWell(cluster);
    if (testing::Test::HasFailure()) break;
  }
}

TEST(Pools, AreDrainedForJobsAndGivenBack) {
  expectOneOwner([](sim::VirtualCluster&) {});
}

TEST(Pools, SurviveTheDeathOfTheMaster) {
  expectOneOwner([](sim::VirtualCluster& cluster) { cluster.killMaster(upTo(1s, cluster)); });
}

TEST(Pools, SurviveTheDeathOfAMonitorWithItsLateTasks) {
  expectOneOwner(
      [](sim::VirtualCluster& cluster) { cluster.killMonitor(oneOf(3, cluster), upTo(1s, cluster)); });
}

TEST(Pools, SurviveCutsBetweenAMonitorAndTheMaster) {
  expectOneOwner(
      [](sim::VirtualCluster& cluster) { cluster.cutMonitor(oneOf(3, cluster), upTo(3s, cluster)); });
}

TEST(Pools, SurviveTheLossOfAMachine) {
  expectOneOwner(
      [](sim::VirtualCluster& cluster) { cluster.loseMachine(oneOf(3, cluster), upTo(1s, cluster)); });
}

TEST(Pools, SurviveMessagesThatAreSlowOrComeTwice) {
  expectOneOwner([](sim::VirtualCluster& cluster) {
    cluster.world().delays.slowOneIn = 10;
    cluster.world().delays.slow = 500ms;
    cluster.world().repeatedOneIn = 5;
    cluster.world().repeatedWithin = 1s;
    cluster.killMonitor(oneOf(3, cluster), upTo(300ms, cluster));
  });
}

TEST(Pools, SurviveEverythingAtOnce) {
  expectOneOwner([](sim::VirtualCluster& cluster) {
    cluster.killMaster(upTo(500ms, cluster));
    cluster.cutMonitor(oneOf(3, cluster), upTo(1s, cluster));
    cluster.run(upTo(100ms, cluster));
    cluster.killAgent(oneOf(2, cluster), upTo(500ms, cluster));
    cluster.killMonitor(oneOf(3, cluster), upTo(500ms, cluster));
  });
}

}  // namespace tarcil::deterministic_pools_test
