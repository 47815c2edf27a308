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

// A cluster that is whole again hears nothing from its master before that (sim/faults/fault_simulation.cc
// waits for it).
TEST(StoreThatIsSlow, HasABacklogToWriteWhenItIsQuickAgain) {
  sim::VirtualCluster cluster(withSeed(1));
  cluster.run(1s);
  EXPECT_EQ(cluster.master().backlog(), 0s);
  cluster.master().slowDisk(1h);
  cluster.submit(sleeping(1, "0.1"), 0);
  cluster.run(1s);
  cluster.heal();
  const Duration backlog = cluster.master().backlog();
  EXPECT_GT(backlog, 1min);
  cluster.run(backlog / 2);
  EXPECT_FALSE(cluster.allAnswered());
  EXPECT_TRUE(cluster.runUntilIdle(backlog + kPatience));
  EXPECT_EQ(cluster.master().backlog(), 0s);
}

}  // namespace tarcil::deterministic_faulty_store_test
