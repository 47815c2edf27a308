// What sampling promises, held against what comes of it. bench/guarantee does the same at length.
#include <gtest/gtest.h>

#include "core/model/sample_size.h"
#include "tests/support/guarantee_trial.h"

namespace tarcil::guarantee_trial_test {

// A rightly stated bound is broken more often only once in so many runs; and the seed is fixed.
constexpr double kBeyondChance = 1e-6;

// Whether a share of at most `share` explains so many hits.
bool explains(double share, uint64_t hits, uint64_t of) {
  return guarantee(share, of, static_cast<uint32_t>(hits)) > kBeyondChance;
}

GuaranteeResult trial(uint32_t tasks, uint64_t decisions, uint32_t servers = 2'000) {
  GuaranteeTrial trial{.tasks = tasks, .decisions = decisions, .scanEvery = 1};
  GeneratedCluster cluster({.servers = servers});
  cluster.fillTo(0.6);
  return tryGuarantee(cluster, trial);
}

void expectKept(const GuaranteeResult& result) {
  const double eps = 1 - QualitySettings{}.confidence;
  ASSERT_GT(result.covered, 50u);
  EXPECT_TRUE(explains(eps, result.broken, result.covered)) << result.broken << " of " << result.covered;
}

TEST(Guarantee, IsKeptForOneTask) {
  expectKept(trial(1, 4'000));
}

TEST(Guarantee, IsKeptForAFewTasks) {
  expectKept(trial(8, 2'000));
}

TEST(Guarantee, IsKeptForManyTasks) {
  expectKept(trial(100, 200));
}

TEST(Guarantee, IsKeptWhereAJobDrawsMostOfTheCluster) {
  expectKept(trial(100, 1'500, 800));
}

}  // namespace tarcil::guarantee_trial_test
