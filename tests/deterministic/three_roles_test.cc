// Master, agents and monitors together on a virtual clock, without RPC: jobs come to their end whatever
// breaks, and one seed gives one history, byte for byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/deterministic/work.h"

namespace tarcil::three_roles_test {

using namespace std::chrono_literals;
using testing::IsEmpty;

constexpr uint64_t kSeeds = 12;

std::vector<std::string> historyOf(uint64_t seed) {
  sim::VirtualCluster cluster(withSeed(seed));
  submitWork(cluster, [](sim::VirtualCluster& c) {
    c.killMaster(100ms);
    c.killAgent(0, 100ms);
  });
  expectAllWell(cluster);
  return cluster.log();
}

TEST(ThreeRoles, RunJobsToTheirEnd) {
  sim::VirtualCluster cluster(withSeed(1));
  submitWork(cluster, [](sim::VirtualCluster&) {});
  expectAllWell(cluster);
  EXPECT_EQ(cluster.mostStarts(), 1u);
}

TEST(ThreeRoles, GiveTheSameHistoryForTheSameSeed) {
  const auto first = historyOf(7);
  EXPECT_EQ(first, historyOf(7));
  EXPECT_NE(first, historyOf(8));
}

TEST(ThreeRoles, ReportAFailedTask) {
  sim::VirtualCluster cluster(withSeed(1));
  JobSpec spec = aJob(1);
  spec.command = {"false"};
  spec.restart.attempts = 2;
  spec.restart.backoff = 100ms;
  const JobId job = cluster.submit(spec);
  ASSERT_TRUE(cluster.runUntilIdle(kPatience));
  EXPECT_EQ(cluster.stateOf(job), RunState::kFailed);
  EXPECT_EQ(cluster.tasksOf(job)[0].failures, 3u);
  EXPECT_EQ(cluster.tasksOf(job)[0].end.exitCode, 1);
}

TEST(ThreeRoles, EndATaskAtItsTimeout) {
  sim::VirtualCluster cluster(withSeed(1));
  JobSpec spec = sleeping(1, "60m");
  spec.timeout = 5s;
  const JobId job = cluster.submit(spec);
  ASSERT_TRUE(cluster.runUntilIdle(kPatience));
  EXPECT_EQ(cluster.stateOf(job), RunState::kFailed);
  EXPECT_EQ(cluster.tasksOf(job)[0].end.cause, EndCause::kTimedOut);
}

TEST(ThreeRoles, CancelAJobWhereverItsTasksAre) {
  for (Duration after : {0us, 3'000us, 6'000us, 9'000us, 12'000us, 15'000us, 1'000'000us}) {
    SCOPED_TRACE(after.count());
    sim::VirtualCluster cluster(withSeed(3));
    const JobId job = cluster.submit(sleeping(8, "60m"));
    cluster.run(after);
    cluster.cancel(job);
    cluster.run(20ms);
    cluster.cancel(job);  // the first one may have come before the job did
    ASSERT_TRUE(cluster.runUntilIdle(kPatience));
    EXPECT_EQ(cluster.stateOf(job), RunState::kCancelled);
    EXPECT_THAT(cluster.violations(), IsEmpty());
  }
}

enum class Starts : uint8_t { kOnce, kAgainWhereLost, kAgainWhereMoved };

// Breaks something again and again while work comes in and is done, in many histories.
template <typename Break>
void expectSurvives(Starts starts, Break breakSomething) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    sim::VirtualCluster cluster(withSeed(seed));
    submitWork(cluster, breakSomething);
    expectAllWell(cluster);
    if (starts == Starts::kOnce) {
      EXPECT_EQ(cluster.mostStarts(), 1u);
    }
    if (testing::Test::HasFailure()) break;
  }
}

TEST(ThreeRoles, SurviveTheDeathOfTheMaster) {
  expectSurvives(Starts::kOnce, [](sim::VirtualCluster& cluster) { cluster.killMaster(upTo(1s, cluster)); });
}

TEST(ThreeRoles, SurviveTheDeathOfAnAgent) {
  expectSurvives(Starts::kOnce, [](sim::VirtualCluster& cluster) {
    cluster.killAgent(oneOf(2, cluster), upTo(1s, cluster));
  });
}

TEST(ThreeRoles, HandTheJobsOfAnAgentThatStaysAwayToAnother) {
  expectSurvives(Starts::kOnce, [](sim::VirtualCluster& cluster) { cluster.killAgent(0, 1h); });
}

TEST(ThreeRoles, SurviveTheDeathOfAMonitor) {
  expectSurvives(Starts::kOnce, [](sim::VirtualCluster& cluster) {
    cluster.killMonitor(oneOf(3, cluster), upTo(1s, cluster));
  });
}

TEST(ThreeRoles, SurviveCutsBetweenAnAgentAndTheMaster) {
  expectSurvives(Starts::kOnce, [](sim::VirtualCluster& cluster) {
    cluster.cutAgent(oneOf(2, cluster), upTo(1s, cluster));
  });
}

TEST(ThreeRoles, SurviveLongCutsBetweenAnAgentAndTheMaster) {
  expectSurvives(Starts::kOnce, [](sim::VirtualCluster& cluster) {
    cluster.cutAgent(oneOf(2, cluster), upTo(20s, cluster));
  });
}

TEST(ThreeRoles, SurviveCutsBetweenAMonitorAndTheMaster) {
  expectSurvives(Starts::kOnce, [](sim::VirtualCluster& cluster) {
    cluster.cutMonitor(oneOf(3, cluster), upTo(1s, cluster));
  });
}

TEST(ThreeRoles, StartTasksOfALostServerElsewhere) {
  expectSurvives(Starts::kAgainWhereLost,
                 [](sim::VirtualCluster& cluster) { cluster.cutMonitor(oneOf(3, cluster), 2min); });
}

TEST(ThreeRoles, StartTasksAgainThatWereLostWithTheirMachine) {
  expectSurvives(Starts::kAgainWhereLost, [](sim::VirtualCluster& cluster) {
    cluster.loseMachine(oneOf(3, cluster), upTo(1s, cluster));
  });
}

TEST(ThreeRoles, MoveTasksOffServersThatAreDrained) {
  expectSurvives(Starts::kAgainWhereMoved, [](sim::VirtualCluster& cluster) {
    cluster.drain(oneOf(3, cluster), {}, upTo(2s, cluster));
  });
}

TEST(ThreeRoles, MoveTasksOffServersThoughEverybodyDiesMeanwhile) {
  expectSurvives(Starts::kAgainWhereMoved, [](sim::VirtualCluster& cluster) {
    cluster.drain(oneOf(3, cluster), upTo(500ms, cluster), upTo(3s, cluster));
    cluster.run(upTo(50ms, cluster));
    cluster.killMaster(upTo(500ms, cluster));
    cluster.killMonitor(oneOf(3, cluster), upTo(500ms, cluster));
    cluster.killAgent(oneOf(2, cluster), upTo(500ms, cluster));
  });
}

TEST(ThreeRoles, SurviveEverythingAtOnce) {
  expectSurvives(Starts::kOnce, [](sim::VirtualCluster& cluster) {
    cluster.killMaster(upTo(500ms, cluster));
    cluster.cutMonitor(oneOf(3, cluster), upTo(1s, cluster));
    cluster.run(upTo(100ms, cluster));
    cluster.killAgent(oneOf(2, cluster), upTo(500ms, cluster));
    cluster.killMonitor(oneOf(3, cluster), upTo(500ms, cluster));
    cluster.cutAgent(oneOf(2, cluster), upTo(1s, cluster));
  });
}

}  // namespace tarcil::three_roles_test
