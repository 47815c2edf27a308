// Several masters on an etcd, of which the one that leads is killed, stopped, cut off or deposed in the
// middle of everything: jobs that were taken end well, and nothing is started twice.
#include <gtest/gtest.h>

#include "tests/deterministic/work.h"

namespace tarcil::deterministic_several_masters_test {

using namespace std::chrono_literals;

constexpr uint64_t kSeeds = 300;

sim::VirtualClusterOptions severalMasters(uint64_t seed) {
  sim::VirtualClusterOptions options = withSeed(seed);
  options.mastersOnEtcd = 3;
  return options;
}

void breakLeader(sim::VirtualCluster& cluster) {
  switch (cluster.rng().below(4)) {
    case 0:
      return cluster.killMaster(upTo(1s, cluster));
    case 1:
      return cluster.pauseMaster(upTo(6s, cluster));
    case 2:
      return cluster.cutMasterFromEtcd(upTo(6s, cluster));
    default:
      return cluster.stepMasterDown();
  }
}

TEST(SeveralMasters, BreakNoPromiseWhereTheLeaderIsGone) {
  for (uint64_t seed = 1; seed <= kSeeds && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    sim::VirtualCluster cluster(severalMasters(seed));
    submitWork(cluster, breakLeader);
    expectAllWell(cluster);
    EXPECT_EQ(cluster.mostStarts(), 1u);
  }
}

TEST(SeveralMasters, AreLedByAnotherOnceTheLeaseOfOneThatIsStoppedIsOver) {
  sim::VirtualCluster cluster(severalMasters(1));
  const sim::MasterProcess& first = cluster.master();
  ASSERT_TRUE(first.alive());
  cluster.pauseMaster(1h);
  cluster.run(4s);
  const sim::MasterProcess& second = cluster.master();
  EXPECT_NE(&second, &first);
  EXPECT_GT(second.term(), first.term());
  EXPECT_TRUE(first.alive()) << "it knows nothing of that";
  cluster.submit(sleeping(1, "0.1"));
  ASSERT_TRUE(cluster.runUntilIdle(kPatience));
  EXPECT_TRUE(cluster.allDone());
  cluster.run(1h);
  EXPECT_FALSE(first.alive()) << "it ends when it finds out";
  EXPECT_THAT(cluster.violations(), testing::IsEmpty());
}

TEST(SeveralMasters, TakeWhatCameWhileTheyWereStoppedInItsOrder) {
  sim::VirtualCluster cluster(severalMasters(3));
  const sim::MasterProcess& leader = cluster.master();
  for (int i = 0; i < 3; ++i) {  // the next time before the one before is over
    cluster.pauseMaster(300ms);
    for (uint32_t number = 0; number < 3; ++number) submitJob(cluster, number);
    cluster.run(200ms);
  }
  ASSERT_TRUE(cluster.runUntilIdle(kPatience));
  EXPECT_TRUE(cluster.allAnswered() && cluster.allDone()) << "no commit is missing before another";
  EXPECT_TRUE(leader.alive()) << "it was stopped for less than its lease";
}

TEST(SeveralMasters, WriteNothingWhileTheyAreCutOff) {
  sim::VirtualCluster cluster(severalMasters(2));
  cluster.cutMasterFromEtcd(1h);
  const JobId job = cluster.submit(sleeping(1, "0.1"));
  cluster.run(1s);
  EXPECT_FALSE(cluster.allAnswered()) << "the leader has taken it, and may not say so";
  EXPECT_FALSE(cluster.stored().has(job));
  ASSERT_TRUE(cluster.runUntilIdle(kPatience));
  EXPECT_TRUE(cluster.allDone()) << "by the next one";
}

}  // namespace tarcil::deterministic_several_masters_test
