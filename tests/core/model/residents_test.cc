#include "core/model/residents.h"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>
#include <algorithm>

#include <vector>

#include "core/model/contention.h"
#include "tests/core/model/generators.h"

namespace tarcil::residents_test {

constexpr Pressure kQuiet{};

Profile causing(uint8_t caused, uint8_t tolerated) {
  Profile profile;
  profile.caused = Profile::filled(caused);
  profile.tolerated = Profile::filled(tolerated);
  return profile;
}

PressureSum sums(int32_t value) {
  PressureSum sum{};
  sum.fill(value);
  return sum;
}

JobView onReference(const Profile& profile) {
  return viewOn(profile, fullShare(), 1.0);
}

TEST(Slack, IsUnboundedOnAnEmptyServer) {
  EXPECT_EQ(slackOf(noResidents(), {}, fullShare(), kQuiet), sums(kNoResident));
  EXPECT_EQ(brokenResource(sums(99), noResidents(), 2), -1);
}

TEST(Slack, OfALoneResidentIsWhatItTolerates) {
  const Profile resident = causing(60, 25);
  EXPECT_EQ(slackOf(residentBound(onReference(resident)), sums(60), fullShare(), kQuiet), sums(25));
  EXPECT_EQ(slackOf(residentBound(onReference(resident)), sums(60), fullShare(), Profile::filled(7)),
            sums(18));
}

TEST(Slack, IsSetByTheMostSensitiveResidentAndMayBeNegative) {
  PressureSum bound = noResidents();
  tightenBound(bound, residentBound(onReference(causing(60, 25))));
  tightenBound(bound, residentBound(onReference(causing(20, 50))));
  EXPECT_EQ(bound, sums(70));
  EXPECT_EQ(slackOf(bound, sums(80), fullShare(), kQuiet), sums(-10));
}

TEST(Slack, ChargesNoResidentWithItsOwnPressureWhereTheShareExceedsOne) {
  Share share{};
  share.fill(2 * kShareUnit);
  // Demand 10 arrives as 20, so 79 is tolerated; its own 60 arrives as 120 and is subtracted again in full.
  const JobView resident = viewOn(causing(60, 89), share, 1.0);
  EXPECT_EQ(slackOf(residentBound(resident), sums(60), share, kQuiet), sums(79));
}

TEST(BrokenResource, IsTheFirstWhereTheNewcomerExceedsNoiseFloorAndSlack) {
  PressureSum slack = sums(50);
  slack[3] = 10;
  slack[7] = 5;
  EXPECT_EQ(brokenResource(sums(11), slack, 2), 3);
  EXPECT_EQ(brokenResource(sums(10), slack, 2), 7);
  EXPECT_EQ(brokenResource(sums(5), slack, 2), -1);
}

TEST(BrokenResource, ForgivesANewcomerWithinTheNoiseFloor) {
  EXPECT_EQ(brokenResource(sums(2), sums(0), 2), -1);
  EXPECT_EQ(brokenResource(sums(3), sums(0), 2), 0);
  EXPECT_EQ(brokenResource(sums(0), sums(-40), 0), -1);
}

RC_GTEST_PROP(Slack, OfALoneResidentIsItsToleranceOnEveryPlatform, ()) {
  const Profile profile = *aProfile();
  const Share share = *aShare();
  const JobView resident = viewOn(profile, share, 1.0);
  PressureSum own{};
  for (size_t i = 0; i < kResources; ++i) own[i] = profile.caused[i];
  const PressureSum slack = slackOf(residentBound(resident), own, share, kQuiet);
  for (size_t i = 0; i < kResources; ++i) {
    // Who tolerates all that there can be bounds nobody.
    if (resident.tolerated[i] < kMaxPressure) RC_ASSERT(slack[i] == int32_t{resident.tolerated[i]});
  }
}

// The reason for slack: whoever fits into it leaves every resident satisfied.
TEST(BrokenResource, ForgivesNoMoreThanTheNoiseFloorInAll) {
  EXPECT_EQ(brokenResource(sums(1), sums(-1), 2), -1);
  EXPECT_EQ(brokenResource(sums(1), sums(-2), 2), 0);
  EXPECT_EQ(brokenResource(sums(2), sums(-1), 2), 0);
}

RC_GTEST_PROP(BrokenResource, LetsInNobodyWhoWouldBreakAResident, ()) {
  const auto residents =
      *rc::gen::container<std::vector<Profile>>(*rc::gen::inRange<size_t>(1, 5), aProfile());
  const Profile newcomer = *aProfile();
  const Pressure background = *aPressure();
  PressureSum bound = noResidents();
  PressureSum sum{};
  for (const Profile& resident : residents) {
    tightenBound(bound, residentBound(onReference(resident)));
    for (size_t i = 0; i < kResources; ++i) sum[i] += resident.caused[i];
  }
  const PressureSum slack = slackOf(bound, sum, fullShare(), background);
  const PressureSum arriving = onReference(newcomer).caused;
  const int broken = brokenResource(arriving, slack, 0);
  const auto checked = broken < 0 ? size_t{kResources} : static_cast<size_t>(broken);
  for (const Profile& resident : residents) {
    for (size_t i = 0; i < checked; ++i) {
      const int interference =
          std::min(kMaxPressure, sum[i] - resident.caused[i] + newcomer.caused[i] + background[i]);
      RC_ASSERT(newcomer.caused[i] == 0 || interference <= int{resident.tolerated[i]});
    }
  }
}

TEST(BoundedSlack, IsOfPressuresAndOnlyWhereSomebodyCanBeHurt) {
  EXPECT_EQ(boundedSlack(7), 7);
  EXPECT_EQ(boundedSlack(-500), -99);
  EXPECT_EQ(boundedSlack(300), 99);
  EXPECT_EQ(boundedSlack(kNoResident), std::nullopt);
  EXPECT_EQ(boundedSlack(kNoResident - 90), std::nullopt) << "with a background";
}

}  // namespace tarcil::residents_test
