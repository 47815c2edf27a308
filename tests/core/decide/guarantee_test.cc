// What decisions promise of their sample, against what becomes of it. Seeds are fixed: nothing here is left
// to chance between runs.
#include <gtest/gtest.h>

#include <cmath>

#include "core/decide/chooser.h"
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
  double found = 0;     // share of decisions that found enough
  double promised = 0;  // mean of what their first draws promised
  double reached = 0;   // mean of what all their draws did
};

Seen decideOften(const ClusterState& state, uint32_t tasks, uint32_t cap) {
  constexpr int kDecisions = 3'000;
  const JobSpec spec = aJob(tasks, tolerating({{kLlc, 10}}));
  QualitySettings settings;
  settings.cap = cap;
  Chooser chooser;
  Rng seeds(cap + tasks);
  Seen seen;
  for (int i = 0; i < kDecisions; ++i) {
    const Explanation e = chooser.choose(state, placing(spec), settings, seeds()).explanation;
    seen.found += e.enoughFound ? 1.0 / kDecisions : 0;
    seen.promised += guaranteePromised(e) / kDecisions;
    seen.reached += guaranteeReached(e) / kDecisions;
  }
  return seen;
}

TEST(Guarantee, IsKept) {
  for (uint32_t each : {2u, 5u, 12u}) {
    const ClusterState state = quietOneIn(each);
    for (uint32_t tasks : {1u, 4u}) {
      for (uint32_t cap : {4u, 8u, 16u, 32u}) {
        const Seen seen = decideOften(state, tasks, cap);
        EXPECT_GE(seen.found, seen.promised) << "1/" << each << ", tasks " << tasks << ", cap " << cap;
        EXPECT_GE(seen.found, seen.reached) << "1/" << each << ", tasks " << tasks << ", cap " << cap;
      }
    }
  }
}

// P[Bin(cap * tasks, p) >= tasks], with the free slots so many that drawing without replacement
// hardly matters.
TEST(Guarantee, IsWhatTheBinomialDistributionGivesWhereTheShareIsKnown) {
  const Seen one = decideOften(quietOneIn(5), 1, 8);  // floor and cap are 8
  EXPECT_NEAR(one.found, 1 - std::pow(0.8, 8), 0.035);
  const Seen rare = decideOften(quietOneIn(40), 1, 32);
  EXPECT_NEAR(rare.found, 1 - std::pow(1 - 1.0 / 40, 32), 0.045);
}

TEST(Guarantee, CountsTheSlotsOfAServerOnceForSeveralTasks) {
  Explanation e;
  e.confidence = 0.999;
  e.wanted = 4;
  e.most = 32;
  e.drawn = e.acceptable = 32;
  const double independent = guaranteeReached(e);
  e.freeSlots = 1'000'000;
  e.freeServers = 100'000;
  EXPECT_NEAR(guaranteeReached(e), independent, 1e-3) << "of so many servers each is drawn once";
  e.freeSlots = 100;
  e.freeServers = 3;
  EXPECT_EQ(guaranteeReached(e), 0) << "four tasks on three servers: nothing is known of a second slot";
  e.wanted = 1;
  EXPECT_GT(guaranteeReached(e), 0.99) << "one task has nobody to take slots from it";
}

TEST(Guarantee, GrowsWithTheDrawsAndWithTheShare) {
  Explanation e;
  e.confidence = 0.999;
  e.wanted = 2;
  e.most = 64;
  e.drawn = 8;
  double before = -1;
  for (e.acceptable = 0; e.acceptable <= e.drawn; ++e.acceptable) {
    EXPECT_GE(guaranteeReached(e), before);
    before = guaranteeReached(e);
  }
  e.acceptable = 4;
  before = -1;
  for (e.most = 8; e.most <= 128; e.most *= 2) {
    EXPECT_GT(guaranteeReached(e), before);
    before = guaranteeReached(e);
  }
  EXPECT_LE(before, 0.9995);  // the bound of the share may be wrong, too
}

}  // namespace tarcil::guarantee_test
