#include "core/state/neighbours.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/state/commit_check.h"
#include "tests/core/model/generators.h"
#include "tests/support/builders.h"

namespace tarcil::neighbours_test {

Judging bySlowdowns() {
  Judging judging;
  judging.contention = ContentionModel::kSlowdowns;
  return judging;
}

Newcomer newcomerOf(const Profile& profile, const Judging& judging = bySlowdowns()) {
  return newcomer(viewOn(profile, fullShare(), 1), judging, 1);
}

Profile pressing(int caused, int tolerated) {
  return causingAndTolerating({{Resource::kLlc, caused}}, {{Resource::kLlc, tolerated}});
}

Meeting met(const Profile& newcomer, const ServerBuilder& server, uint32_t ownTasks = 0,
            const Judging& judging = bySlowdowns()) {
  const Newcomer made = newcomerOf(newcomer, judging);
  const ServerStatus status = server.status();
  const Glance seen = glance(made, vacancyOf(status, server.facts().rus, fullShare(), judging.contention));
  return meet(made, neighboursOf(status, fullShare()), seen.excess, ownTasks);
}

TEST(Neighbours, NobodyDisturbsOnAnEmptyServer) {
  const Meeting meeting = met(pressing(80, 10), aServer("a"));
  EXPECT_EQ(meeting.satisfaction, 1);
  EXPECT_EQ(meeting.cost, 0);
  EXPECT_EQ(meeting.brokenResource, -1);
  EXPECT_TRUE(neighboursOf(aServer("a").status(), fullShare()).groups.empty());
}

TEST(Neighbours, WhatEachIsToTheOtherAddsUpAsSlowdowns) {
  const ServerBuilder server = aServer("a").holding(pressing(35, 60)).holding(pressing(30, 99));
  // Felt from 25 on: 10 points by the one, 5 by the other, and 23 as two thirds of what both exceed 30.
  const Meeting meeting = met(pressing(75, 30), server);
  Slowdowns felt;
  felt.add(slowdownAt(10));
  felt.add(slowdownAt(5));
  const Slowdown ofSum = slowdownAt((35 + 30 - 30) * 2 / 3);
  EXPECT_DOUBLE_EQ(meeting.satisfaction, satisfaction(std::max(felt.together(), ofSum)));
  // Of those there one feels 75 from 55 on, beside the 30 that it bears.
  const double after = satisfaction(std::max(slowdownAt(20), slowdownAt((30 + 75 - 60) * 2 / 3)));
  EXPECT_DOUBLE_EQ(meeting.cost, 1 - after);
  EXPECT_EQ(meeting.brokenResource, static_cast<int>(Resource::kLlc));
}

TEST(Neighbours, ThoseThatAreAlikeAreOneGroup) {
  const ServerBuilder server =
      aServer("a").holding(pressing(10, 40)).holding(pressing(20, 40)).holding(pressing(10, 40));
  const ServerStatus status = server.status();
  ASSERT_EQ(status.residents.size(), 2u);
  EXPECT_EQ(status.residents[0].count, 2u);
  EXPECT_EQ(neighboursOf(status, fullShare()).groups[0].count, 2u);
}

TEST(Neighbours, WhatNoResidentExplainsPressesAndFeelsNothing) {
  const Meeting meeting = met(pressing(99, 20), aServer("a").background({{Resource::kLlc, 40}}));
  EXPECT_DOUBLE_EQ(meeting.satisfaction, satisfaction(slowdownAt(25)));
  EXPECT_EQ(meeting.cost, 0);
  EXPECT_EQ(meeting.brokenResource, -1);
}

TEST(Neighbours, AStatusWithoutResidentsIsJudgedByItsSum) {
  ServerStatus status = aServer("a").holding(pressing(40, 99)).status();
  status.residents.clear();
  const auto neighbours = neighboursOf(status, fullShare()).groups;
  ASSERT_EQ(neighbours.size(), 1u);
  EXPECT_EQ(neighbours[0].presses[static_cast<size_t>(Resource::kLlc)], 40);
}

TEST(Neighbours, AJobsOwnTasksAreNeighboursToo) {
  const Profile selfish = pressing(60, 40);
  EXPECT_EQ(met(selfish, aServer("a"), 0).satisfaction, 1);
  const Meeting second = met(selfish, aServer("a"), 1);
  EXPECT_DOUBLE_EQ(second.satisfaction, satisfaction(slowdownAt(25)));
  EXPECT_EQ(second.brokenResource, static_cast<int>(Resource::kLlc));
  EXPECT_DOUBLE_EQ(second.cost, 1 - satisfaction(slowdownAt(25)));
}

TEST(Neighbours, WhatIsWithinTheNoiseFloorOverrunsByNoMoreThanThat) {
  Judging judging = bySlowdowns();
  judging.noiseFloor = 2;
  // 42 is felt from 35 on: 7 points, within the twentieth and the noise floor; 43 are not.
  EXPECT_EQ(met(pressing(42, 99), aServer("a").holding(pressing(0, 40)), 0, judging).brokenResource,
            static_cast<int>(Resource::kLlc))
      << "it does all of it alone";
  const Profile sensitive = tolerating({{Resource::kLlc, 40}, {Resource::kL2, 40}});
  const ServerBuilder pressed = aServer("a").holding(sensitive).holding(pressing(40, 99));
  EXPECT_EQ(met(causing({{Resource::kL2, 37}}), pressed, 0, judging).brokenResource, -1);
  EXPECT_EQ(met(causing({{Resource::kL2, 39}}), pressed, 0, judging).brokenResource,
            static_cast<int>(Resource::kL2));
}

TEST(Neighbours, AreProtectedForAnyPriceWhereTheyAreStrictOrAtTheFloor) {
  Judging judging = bySlowdowns();
  judging.neighbourFloor = 0.5;
  const Profile loud = pressing(60, 99), sensitive = pressing(0, 40);
  EXPECT_FALSE(met(loud, aServer("a").holding(sensitive), 0, judging).isForbidden);
  EXPECT_TRUE(met(loud, aServer("a").holding(sensitive).strictly(), 0, judging).isForbidden);
  EXPECT_FALSE(met(pressing(40, 99), aServer("a").holding(sensitive).strictly(), 0, judging).isForbidden)
      << "it bears that";
  judging.neighbourFloor = 0.8;
  EXPECT_TRUE(met(loud, aServer("a").holding(sensitive), 0, judging).isForbidden);
  judging.protectNeighbours = false;
  EXPECT_FALSE(met(loud, aServer("a").holding(sensitive).strictly(), 0, judging).isForbidden);
}

TEST(Neighbours, ThatAreProtectedDifferentlyAreTwoGroups) {
  const ServerStatus status =
      aServer("a").holding(pressing(10, 40)).holding(pressing(10, 40)).strictly().status();
  ASSERT_EQ(status.residents.size(), 2u);
  EXPECT_FALSE(status.residents[0].isStrict);
  EXPECT_TRUE(status.residents[1].isStrict);
}

TEST(Neighbours, AreNotProtectedWhereTheJobDoesNotAskForIt) {
  Judging judging = bySlowdowns();
  judging.protectNeighbours = false;
  const Meeting meeting = met(pressing(90, 99), aServer("a").holding(pressing(0, 20)), 0, judging);
  EXPECT_EQ(meeting.brokenResource, -1);
  EXPECT_GT(meeting.cost, 0.5);
}

TEST(Neighbours, BySumTheyLoseWhatTheSumExceeds) {
  const Meeting meeting = met(pressing(50, 99), aServer("a").holding(pressing(0, 40)), 0, Judging());
  EXPECT_DOUBLE_EQ(meeting.cost, 1 - satisfaction(slowdownAt(10)));
}

// As the master checks a claim on a server that has changed, the agent saw it.
RC_GTEST_PROP(Neighbours, AgentsAndMasterJudgeAlike, ()) {
  ServerBuilder server = aServer("a").rus(16);
  const auto there = *rc::gen::inRange(0, 9);
  for (int i = 0; i < there; ++i) server.holding(*aProfile());
  const Profile profile = *aProfile();
  RC_PRE(!profile.isUnknown());
  Judging judging = bySlowdowns();
  judging.margin = *rc::gen::element(0, 10);
  ClusterState state;
  state.setContention(judging.contention);
  state.keepNeighbours(true);
  state.apply(server.update(0));
  const Newcomer made = newcomer(viewOn(profile, fullShare(), 1), judging, 1);
  const Glance seen = withNeighbours(glance(made, state.vacancy(0)), made, state.neighbours(0));

  const JobSpec spec = aJob(1, profile);
  Claim claim{.server = 0, .rus = 1, .preferred = {}, .versionSeen = 0, .floor = satisfaction(made, seen)};
  const Verdict verdict = checkClaim(claim, judging, spec, server.facts(), server.status(), fullShare());
  RC_ASSERT((verdict == Verdict::kGranted) == (seen.obstacle == Obstacle::kNone));
  if (seen.obstacle == Obstacle::kNeighbour) RC_ASSERT(verdict == Verdict::kBreaksNeighbour);
  claim.floor = std::nextafter(claim.floor, 2.0);
  RC_ASSERT(checkClaim(claim, judging, spec, server.facts(), server.status(), fullShare()) ==
            Verdict::kBelowFloor);
}

// What is spared is only the look at each of them.
RC_GTEST_PROP(Neighbours, WithinTheirSpareNobodyLosesAnything, (bool bySum)) {
  ServerBuilder server = aServer("a").rus(16);
  const auto there = *rc::gen::inRange(1, 9);
  for (int i = 0; i < there; ++i) server.holding(*aProfile());
  Judging judging = bySlowdowns();
  if (bySum) judging.contention = ContentionModel::kSum;
  const Newcomer made = newcomerOf(*aProfile(), judging);
  const ServerStatus status = server.status();
  const auto ownTasks = *rc::gen::inRange(0U, 3U);
  const uint8_t excess =
      glance(made, vacancyOf(status, server.facts().rus, fullShare(), judging.contention)).excess;
  Neighbours neighbours = neighboursOf(status, fullShare());
  const Meeting meeting = meet(made, neighbours, excess, ownTasks);
  neighbours.spare.fill(0);  // whoever presses with nothing more is beyond that
  const Meeting looked = meet(made, neighbours, excess, ownTasks);
  RC_ASSERT(meeting.cost == looked.cost);
  RC_ASSERT(meeting.satisfaction == looked.satisfaction);
  RC_ASSERT(meeting.brokenResource == looked.brokenResource);
  RC_ASSERT(meeting.isForbidden == looked.isForbidden);
}

RC_GTEST_PROP(Neighbours, OneMoreNeverMakesASlotBetter, ()) {
  ServerBuilder server = aServer("a").rus(16);
  const auto there = *rc::gen::inRange(0, 6);
  for (int i = 0; i < there; ++i) server.holding(*aProfile());
  const Profile profile = *aProfile();
  const double before = met(profile, server).satisfaction;
  server.holding(*aProfile());
  const Meeting meeting = met(profile, server);
  RC_ASSERT(meeting.satisfaction <= before);
  RC_ASSERT(meeting.cost >= 0);
}

}  // namespace tarcil::neighbours_test
