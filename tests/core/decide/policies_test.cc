// What each policy looks at, and what it says of that.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/decide/chooser.h"
#include "core/model/constraint.h"
#include "tests/core/decide/deciding.h"
#include "tests/support/builders.h"

namespace tarcil::decide_policies_test {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr Resource kLlc = Resource::kLlc;

uint32_t droppedBy(const Decision& decision, Dropped reason) {
  return droppedFor(decision.explanation, reason);
}

TEST(Policies, ThatLookAtLoadTakeWhatProfilesForbid) {
  const Profile tender = tolerating({{kLlc, 0}});
  auto state = aCluster({aServer("loud").background({{kLlc, 99}}).holding(tender)});
  for (Policy policy : {Policy::kRandom, Policy::kPerTask, Policy::kBatch}) {
    const Decision decision = decide(state, withPolicy(aJob(1, causing({{kLlc, 99}})), policy));
    ASSERT_EQ(decision.claims.size(), 1u);
    EXPECT_EQ(decision.claims[0].floor, 0);
  }
  EXPECT_THAT(decide(state, aJob(1, causing({{kLlc, 99}}))).claims, IsEmpty());
}

TEST(Policies, DrawTwoSlotsATask) {
  auto state = aCluster(idle(1'000, 1));
  EXPECT_EQ(decide(state, withPolicy(aJob(7), Policy::kPerTask)).explanation.drawn, 14u);
  EXPECT_EQ(decide(state, withPolicy(aJob(7), Policy::kBatch)).explanation.drawn, 14u);
  EXPECT_EQ(decide(state, withPolicy(aJob(7), Policy::kRandom)).explanation.drawn, 7u);
}

TEST(Policies, PreferTheLessLoadedServerOfThoseDrawn) {
  auto state = aCluster({aServer("half").rus(2).holding({}), aServer("empty").rus(1)});
  for (uint64_t seed = 0; seed < 50; ++seed) {
    for (Policy policy : {Policy::kPerTask, Policy::kBatch}) {
      EXPECT_THAT(places(state, decide(state, withPolicy(aJob(1), policy), seed)), ElementsAre("empty"));
    }
  }
}

TEST(Policies, AllFillTheClusterToItsLastSlot) {
  auto state = aCluster({aServer("a").rus(3), aServer("b").rus(5), aServer("c").rus(4).holding({}, 2)});
  for (Policy policy :
       {Policy::kQuality, Policy::kGreedy, Policy::kRandom, Policy::kPerTask, Policy::kBatch}) {
    JobSpec spec = withPolicy(aJob(10), policy);
    EXPECT_EQ(decide(state, spec).claims.size(), 10u) << static_cast<int>(policy);
    spec.schedule = Schedule::kGang;
    EXPECT_EQ(decide(state, spec).claims.size(), 10u) << static_cast<int>(policy);
    spec.tasks = 11;
    EXPECT_THAT(decide(state, spec).claims, IsEmpty()) << static_cast<int>(policy);
  }
}

TEST(Policies, AllKeepToConstraintsExtrasAndSpread) {
  auto servers = idle(300, 4);
  for (size_t i : {13, 57, 200}) servers[i].attribute("kind", "rare").extra("gpus", 2);
  auto state = aCluster(servers);
  for (Policy policy :
       {Policy::kQuality, Policy::kGreedy, Policy::kRandom, Policy::kPerTask, Policy::kBatch}) {
    JobSpec spec = withPolicy(aJob(6), policy);
    spec.placement.constraints = {*parseConstraint("kind = rare")};
    spec.extras = {{"gpus", 1}};
    if (policy == Policy::kRandom) spec.tasks = 12;  // it draws no more slots than it has tasks
    EXPECT_THAT(places(state, decide(state, spec)),
                UnorderedElementsAre("s13", "s13", "s57", "s57", "s200", "s200"))
        << static_cast<int>(policy);
    spec.placement.spread = Domain::kServer;
    EXPECT_THAT(places(state, decide(state, spec)), UnorderedElementsAre("s13", "s57", "s200"))
        << static_cast<int>(policy);
  }
}

TEST(Policies, PerTaskSaysThatTheJobItselfTookTheExtras) {
  auto state = aCluster({aServer("a").rus(4).extra("gpus", 1)});
  JobSpec spec = withPolicy(aJob(2), Policy::kPerTask);
  spec.extras = {{"gpus", 1}};
  const Decision decision = decide(state, spec);
  EXPECT_EQ(decision.claims.size(), 1u);
  EXPECT_EQ(droppedBy(decision, Dropped::kQuality), 0u);
  EXPECT_GT(droppedBy(decision, Dropped::kTaken), 0u);
}

TEST(Greedy, FindsTheOnePlaceThatWillDo) {
  auto servers = idle(3'000);
  for (size_t i = 0; i < servers.size(); ++i) {
    if (i != 1'234) servers[i].background({{kLlc, 60}});
  }
  auto state = aCluster(servers);
  EXPECT_THAT(places(state, decide(state, withPolicy(aJob(1, tolerating({{kLlc, 0}})), Policy::kGreedy))),
              ElementsAre("s1234"));
}

TEST(Greedy, TakesTheLeastLoadedOfManyAlike) {
  std::vector<ServerBuilder> servers;
  std::vector<std::string> least;
  for (uint32_t i = 0; i < 100; ++i) {
    const uint32_t load = (37 * i) % 100;  // units taken; one is free
    servers.push_back(aServer("s" + std::to_string(i)).rus(load + 1).holding({}, load));
    if (load < 10) least.push_back(servers.back().facts().name);
  }
  auto state = aCluster(servers);
  EXPECT_THAT(places(state, decide(state, withPolicy(aJob(10), Policy::kGreedy))),
              testing::UnorderedElementsAreArray(least));
}

TEST(Greedy, DoesNotClaimToHaveFoundWhatTheJobItselfSpoils) {
  auto state = aCluster(idle(1));
  const Decision decision = decide(state, withPolicy(aJob(2, causing({{kLlc, 60}})), Policy::kGreedy));
  EXPECT_EQ(decision.claims.size(), 1u);
  EXPECT_FALSE(decision.explanation.enoughFound);
}

TEST(Greedy, DoesNotClaimToHaveFoundWhatIsOnlyTheBestThereIs) {
  auto state = aCluster({aServer("loud").background({{kLlc, 60}})});
  const JobSpec spec = withPolicy(aJob(1, tolerating({{kLlc, 20}})), Policy::kGreedy);
  const Decision decision = decide(state, spec, 1, Standard::kBestThereIs);
  EXPECT_EQ(decision.claims.size(), 1u);
  EXPECT_FALSE(decision.explanation.enoughFound);
}

TEST(Policies, AllSpreadByAnyAttribute) {
  auto servers = idle(60);
  for (size_t i = 0; i < servers.size(); ++i) servers[i].attribute("zone", "z" + std::to_string(i % 3));
  auto state = aCluster(servers);
  JobSpec spec = aJob(9);
  spec.placement.spread = "zone";
  spec.placement.atMost = 2;
  for (const Policy policy :
       {Policy::kQuality, Policy::kGreedy, Policy::kRandom, Policy::kPerTask, Policy::kBatch}) {
    std::map<std::string_view, int> inZone;
    for (const Claim& claim : decide(state, withPolicy(spec, policy)).claims) {
      ++inZone[*state.attribute(claim.server, "zone")];
    }
    EXPECT_THAT(inZone,
                testing::ElementsAre(testing::Pair("z0", 2), testing::Pair("z1", 2), testing::Pair("z2", 2)));
  }
}

TEST(Greedy, DoesNotClaimToHaveFoundWhatSpreadForbids) {
  auto state = aCluster(idle(2));
  JobSpec spec = withPolicy(aJob(3), Policy::kGreedy);
  spec.placement.spread = Domain::kServer;
  const Decision decision = decide(state, spec);
  EXPECT_EQ(decision.claims.size(), 2u);
  EXPECT_FALSE(decision.explanation.enoughFound);
  spec.tasks = 2;
  EXPECT_TRUE(decide(state, spec).explanation.enoughFound);
}

TEST(LoadPolicies, LeaveNothingToChanceSinceAnySlotWillDo) {
  auto state = aCluster(idle(500));
  for (const Policy policy : {Policy::kRandom, Policy::kPerTask, Policy::kBatch}) {
    EXPECT_EQ(guarantee(decide(state, withPolicy(aJob(2), policy)).explanation), 1.0);
  }
}

TEST(Greedy, DoesNotBreakATaskThatWasPlacedByName) {
  auto state = aCluster(idle(1));
  JobSpec spec = withPolicy(aJob(2, causing({{kLlc, 60}})), Policy::kGreedy);
  spec.placement.preferOfTask = {{0, {"s0"}}};
  const Decision decision = decide(state, spec);
  EXPECT_EQ(decision.claims.size(), 1u);
  EXPECT_EQ(droppedBy(decision, Dropped::kTaken), 3u);
}

TEST(Greedy, AccountsForEverySlotAsSamplingDoes) {
  auto state =
      aCluster({aServer("full").holding({}, 4), aServer("loud").background({{kLlc, 60}}),
                aServer("tender").holding(tolerating({{kLlc, 5}})), aServer("used"), aServer("good")});
  JobSpec spec = withPolicy(aJob(1, causing({{kLlc, 50}})), Policy::kGreedy);
  spec.placement.spread = Domain::kServer;
  PlacementRequest request = placing(spec);
  request.placedOn = {3};
  for (Standard standard : {Standard::kAcceptable, Standard::kBestThereIs}) {
    request.standard = standard;
    const Decision decision = choose(state, request, byQuality(), 1);
    EXPECT_EQ(decision.explanation.drawn, 15u);
    EXPECT_EQ(decision.explanation.acceptable, 4u);
    EXPECT_EQ(droppedBy(decision, Dropped::kQuality), 4u);
    EXPECT_EQ(droppedBy(decision, Dropped::kNeighbour), 3u);
    EXPECT_EQ(droppedBy(decision, Dropped::kSpread), 4u);
  }
}

TEST(Chance, FavoursNoServerAmongEquals) {
  for (uint32_t count : {3u, 5u, 17u, 33u}) {
    auto state = aCluster(idle(count, 1));
    const JobSpec spec = withPolicy(aJob(1), Policy::kGreedy);
    std::vector<double> chosen(count);
    const double each = 400;
    Rng seeds(count);
    for (int i = 0; i < static_cast<int>(each * count); ++i) {
      ++chosen[decide(state, spec, seeds()).claims.at(0).server];
    }
    // Six standard deviations: by chance once in a hundred million.
    for (double times : chosen) EXPECT_NEAR(times, each, 6 * 20) << "of " << count;
  }
}

}  // namespace tarcil::decide_policies_test
