// What decisions promise of their sample, against what becomes of it. Seeds are fixed: nothing here is left
// to chance between runs.
#include <gtest/gtest.h>

#include <cmath>

#include "core/decide/chooser.h"
#include "core/model/sample_size.h"
#include "tests/core/decide/deciding.h"
#include "tests/support/builders.h"

namespace tarcil::guarantee_test {

constexpr Resource kLlc = Resource::kLlc;

// One server in so many is quiet; each has one unit.
ClusterState quietOneIn(uint32_t each) {
  auto servers = idle(4'000, 1);
  for (size_t i = 0; i < servers.size(); ++i) {
    if (i % each != 0) servers[i].background({{kLlc, 60}});
  }
  return aCluster(servers);
}

struct Seen {
  double found = 0;  // share of decisions that found enough
  double drawn = 0;  // slots, in the mean
};

constexpr int kDecisions = 3'000;

Seen decideOften(const ClusterState& state, uint32_t tasks, const QualitySettings& settings) {
  const JobSpec spec = aJob(tasks, tolerating({{kLlc, 10}}));
  Chooser chooser;
  Rng seeds(tasks);
  Seen seen;
  for (int i = 0; i < kDecisions; ++i) {
    const Explanation e = chooser.choose(state, placing(spec), settings, seeds()).explanation;
    seen.found += e.enoughFound ? 1.0 / kDecisions : 0;
    seen.drawn += static_cast<double>(e.drawn) / kDecisions;
  }
  return seen;
}

QualitySettings withConfidence(double confidence) {
  QualitySettings settings = byQuality();
  settings.confidence = confidence;
  return settings;
}

QualitySettings withCap(uint32_t cap) {
  QualitySettings settings = byQuality();
  settings.cap = cap;
  return settings;
}

TEST(Guarantee, IsKeptWhereAcceptableSlotsAreNoRarerThanPromised) {
  for (uint32_t each : {2u, 5u, 12u, 20u}) {
    const ClusterState state = quietOneIn(each);
    for (uint32_t tasks : {1u, 4u}) {
      for (double confidence : {0.5, 0.9, 0.999}) {
        const double chance = 4 * std::sqrt(confidence * (1 - confidence) / kDecisions);
        EXPECT_GE(decideOften(state, tasks, withConfidence(confidence)).found, confidence - chance)
            << "1/" << each << ", tasks " << tasks << ", confidence " << confidence;
      }
    }
  }
}

TEST(Guarantee, OfMoreConfidenceDrawsMoreWhereSlotsAreRareAndNoMoreWhereTheyAreNot) {
  const ClusterState rare = quietOneIn(20), common = quietOneIn(2);
  const double few = decideOften(rare, 1, withConfidence(0.5)).drawn;
  const double more = decideOften(rare, 1, withConfidence(0.9)).drawn;
  const double most = decideOften(rare, 1, withConfidence(0.999)).drawn;
  EXPECT_LT(few + 1, more);
  EXPECT_LT(more + 1, most);
  EXPECT_NEAR(decideOften(common, 1, withConfidence(0.5)).drawn, 8, 0.1);
  EXPECT_NEAR(decideOften(common, 1, withConfidence(0.999999)).drawn, 8, 0.1);
}

// P[Bin(cap * tasks, p) >= tasks], with the free slots so many that drawing without replacement
// hardly matters.
TEST(Guarantee, IsWhatTheBinomialDistributionGivesWhereTheCapBinds) {
  const Seen one = decideOften(quietOneIn(5), 1, withCap(8));  // floor and cap are 8
  EXPECT_NEAR(one.found, 1 - std::pow(0.8, 8), 0.035);
  const Seen rare = decideOften(quietOneIn(40), 1, withCap(32));
  EXPECT_NEAR(rare.found, 1 - std::pow(1 - 1.0 / 40, 32), 0.045);
}

TEST(Guarantee, FollowsFromRarityLimitAndTasks) {
  Explanation e;
  e.freeSlots = 1'000'000;
  e.rarity = 0.05;
  e.wanted = 3;
  e.sought = 2;
  double before = -1;
  for (e.limit = 8; e.limit <= 128; e.limit *= 2) {
    EXPECT_EQ(guarantee(e), guarantee(0.05, e.limit, 2));
    EXPECT_GT(guarantee(e), before);
    before = guarantee(e);
  }
  e.freeSlots = 256;
  EXPECT_EQ(guarantee(e), 1) << "the limit reaches every free slot";
}

TEST(DrawLimit, IsTheSmallestNumberThatKeepsThePromise) {
  const QualitySettings settings = byQuality();
  for (uint32_t tasks : {1u, 3u, 50u, 1'000u}) {
    const uint64_t limit = drawLimit(settings, 0.999, tasks);
    EXPECT_GE(guarantee(0.05, limit, tasks), 0.999);
    EXPECT_LT(guarantee(0.05, limit - 1, tasks), 0.999);
  }
  EXPECT_EQ(drawLimit(settings, 0.999, 1), 135u);
  EXPECT_EQ(drawLimit(settings, 0.5, 1), 14u);
}

TEST(DrawLimit, IsBoundedByTheCapAndSetByTheRatio) {
  QualitySettings settings = withCap(32);
  EXPECT_EQ(drawLimit(settings, 0.999, 1), 32u);
  EXPECT_EQ(drawLimit(settings, 0.5, 1), 14u) << "a cap adds no draws";
  EXPECT_EQ(drawLimit(settings, 0.999, 3), 96u);
  settings.ratio = 5;
  EXPECT_EQ(drawLimit(settings, 0.999, 3), 15u);
}

}  // namespace tarcil::guarantee_test
