// The master's store fails, forgets what was not synced, or keeps it without saying so, and the master dies,
// in the middle of everything else that may go wrong: what holds in thousands of histories.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/deterministic/work.h"

namespace tarcil::deterministic_faulty_store_test {

using namespace std::chrono_literals;

constexpr uint64_t kSeeds = 2'000;

// Something breaks, more often the master's store than anything else.
void breakSomething(sim::VirtualCluster& cluster) {
  switch (cluster.rng().below(8)) {
    case 0:
    case 1:
    case 2:
      return cluster.failStore(upTo(300ms, cluster));
    case 3:
    case 4:
      return cluster.killMaster(upTo(300ms, cluster));
    case 5:
      return cluster.killAgent(oneOf(2, cluster), upTo(500ms, cluster));
    case 6:
      return cluster.killMonitor(oneOf(3, cluster), upTo(500ms, cluster));
    default:
      return cluster.cutAgent(oneOf(2, cluster), upTo(1s, cluster));
  }
}

void expectPromisesKept(uint64_t seed) {
  SCOPED_TRACE("to see it again: TARCIL_SEED=" + std::to_string(seed) +
               " build/release/tests/tarcil_deterministic_test --gtest_filter=StoreThatFails.*");
  sim::VirtualCluster cluster(withSeed(seed));
  submitWork(cluster, breakSomething);
  expectAllWell(cluster);
  EXPECT_EQ(cluster.mostStarts(), 1u);
  if (testing::Test::HasFailure() && std::getenv("TARCIL_SEED") != nullptr) {
    for (const std::string& line : cluster.log()) puts(line.c_str());
  }
}

// TARCIL_SEED=17 runs one history, and prints it where it fails.
TEST(StoreThatFails, BreaksNoPromise) {
  if (const char* seed = std::getenv("TARCIL_SEED"))
    return expectPromisesKept(std::strtoull(seed, nullptr, 10));
  for (uint64_t seed = 1; seed <= kSeeds && !testing::Test::HasFailure(); ++seed) expectPromisesKept(seed);
}

// However many jobs come while the disk is slow, they wait for two syncs: the one under way and their own.
TEST(StoreThatIsSlow, TakesEverythingThatWaitsWithOneSync) {
  constexpr Duration kSlowness = 10s;
  sim::VirtualCluster cluster(withSeed(1));
  cluster.master().disk().beSlow(kSlowness);
  for (int i = 0; i < 50; ++i) cluster.submit(sleeping(1, "0.1"));
  cluster.run(2 * kSlowness + 1s);
  EXPECT_TRUE(cluster.allAnswered());
}

TEST(StoreOnAFullDisk, IsStartedOnOnceThereIsRoom) {
  sim::VirtualCluster cluster(withSeed(1));
  cluster.fillDisk(0, 30s);
  const JobId job = cluster.submit(sleeping(1, "0.1"));
  cluster.run(20s);
  EXPECT_FALSE(cluster.master().alive());
  EXPECT_TRUE(cluster.runUntilIdle(kPatience));
  EXPECT_EQ(cluster.stateOf(job), RunState::kDone);
}

TEST(StoreOnADiskThatIsNearlyFull, TakesNoNewJobsUntilThereIsRoom) {
  sim::VirtualCluster cluster(withSeed(1));
  cluster.fillDisk(1, 30s);
  cluster.run(2s);
  const JobId job = cluster.submit(sleeping(1, "0.1"));
  cluster.run(20s);
  EXPECT_FALSE(cluster.stored().has(job));
  EXPECT_TRUE(cluster.runUntilIdle(kPatience));
  EXPECT_EQ(cluster.stateOf(job), RunState::kDone);
}

}  // namespace tarcil::deterministic_faulty_store_test
