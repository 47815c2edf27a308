#include "core/decide/impact.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/model/residents.h"
#include "tests/core/model/generators.h"
#include "tests/support/builders.h"

namespace tarcil::impact_test {

constexpr auto kLlc = static_cast<size_t>(Resource::kLlc);
constexpr auto kTlb = static_cast<size_t>(Resource::kTlb);

Neighbour neighbour(Pressures caused, Pressures tolerated) {
  const Profile profile = causingAndTolerating(caused, tolerated);
  return {profile.caused, profile.tolerated};
}

TEST(Impact, SlackIsWhatIsToleratedLessWhatOthersAndTheBackgroundCause) {
  const Neighbourhood there = {.tasks = {neighbour({{Resource::kLlc, 30}}, {{Resource::kLlc, 50}}),
                                         neighbour({{Resource::kLlc, 12}}, {})},
                               .background = pressure({{Resource::kLlc, 5}})};
  const auto impacts = impactOf(there, pressure({{Resource::kLlc, 20}}));
  ASSERT_EQ(impacts.size(), 2u);
  EXPECT_EQ(impacts[0].task, 0u);
  EXPECT_EQ(impacts[0].before[kLlc], 50 - 12 - 5);
  EXPECT_EQ(impacts[0].after[kLlc], 50 - 12 - 5 - 20);
  EXPECT_EQ(worstLoss(impacts[0]), kLlc);
}

TEST(Impact, WhatTasksCauseThatAreNotListedIsFeltToo) {
  Neighbourhood there = {.tasks = {neighbour({}, {{Resource::kLlc, 50}})}};
  there.unlisted[kLlc] = 12;
  EXPECT_EQ(impactOf(there, Pressure{})[0].before[kLlc], 50 - 12);
}

TEST(Impact, WhoToleratesEverythingLosesNothing) {
  const Neighbourhood there = {.tasks = {neighbour({{Resource::kLlc, 30}}, {})}};
  const auto impacts = impactOf(there, pressure({{Resource::kLlc, 99}}));
  EXPECT_EQ(impacts[0].before, noResidents());
  EXPECT_EQ(impacts[0].after, noResidents());
  EXPECT_EQ(worstLoss(impacts[0]), std::nullopt);
}

TEST(Impact, ScalesDemandAndPressureToThePlatform) {
  Neighbourhood there = {.tasks = {neighbour({}, {{Resource::kLlc, 39}})}};
  there.share[kLlc] = kShareUnit / 2;
  const auto impacts = impactOf(there, pressure({{Resource::kLlc, 40}}));
  EXPECT_EQ(impacts[0].before[kLlc], 99 - 30);
  EXPECT_EQ(impacts[0].after[kLlc], 99 - 30 - 20);
}

TEST(Impact, PrivateResourceHurtsNobody) {
  Neighbourhood there = {.tasks = {neighbour({}, {{Resource::kLlc, 0}})}};
  there.share[kLlc] = 0;
  EXPECT_EQ(worstLoss(impactOf(there, pressure({{Resource::kLlc, 99}}))[0]), std::nullopt);
}

TEST(Impact, WorstIsWhoIsLeftTheLeastThenWhoLosesMore) {
  const Neighbourhood there = {.tasks = {neighbour({}, {{Resource::kTlb, 3}}),     // loses nothing
                                         neighbour({}, {{Resource::kLlc, 60}}),    // left 40
                                         neighbour({}, {{Resource::kLlc, 10}})}};  // left -10
  const auto impacts = impactOf(there, pressure({{Resource::kLlc, 20}}));
  EXPECT_EQ(impacts[0].task, 2u);
  EXPECT_EQ(impacts[1].task, 1u);
  EXPECT_EQ(impacts[2].task, 0u);
  Impact little, much;
  little.before[kLlc] = 5;
  much.before[kTlb] = 6;
  EXPECT_TRUE(isWorse(much, little));
  EXPECT_FALSE(isWorse(little, much));
}

TEST(Impact, ByTheMeanOfTheOtherUnits) {
  const Neighbourhood there = {
      .tasks = {neighbour({}, {{Resource::kLlc, 50}})}, .model = ContentionModel::kMean, .rus = 5};
  EXPECT_EQ(impactOf(there, pressure({{Resource::kLlc, 80}}))[0].after[kLlc], 50 - 20);
}

TEST(Impact, SaysWhatIsLeftOfTheSpeed) {
  Neighbourhood there = {
      .tasks = {neighbour({}, {{Resource::kLlc, 30}}), neighbour({{Resource::kLlc, 20}}, {})}};
  Impact sum = impactOf(there, pressure({{Resource::kLlc, 40}}))[0];
  EXPECT_DOUBLE_EQ(sum.satisfactionBefore, 1);
  EXPECT_NEAR(sum.satisfactionAfter, 1 - 30 / 99.0, 0.01);
  EXPECT_NEAR(impactOf(there, pressure({{Resource::kLlc, 20}}), 2)[0].satisfactionAfter, 1 - 30 / 99.0, 0.01);
  // Each of two is borne; felt are 15 points beyond the onset of 25, and two thirds of what all exceed.
  there.model = ContentionModel::kSlowdowns;
  const Impact one = impactOf(there, pressure({{Resource::kLlc, 40}}))[0];
  EXPECT_DOUBLE_EQ(one.satisfactionBefore, 1);
  EXPECT_NEAR(one.satisfactionAfter, 1 - 20 / 99.0, 0.01);
  const Impact alone =
      impactOf({.tasks = {there.tasks[0]}, .model = there.model}, pressure({{Resource::kLlc, 40}}))[0];
  EXPECT_NEAR(alone.satisfactionAfter, 1 - 15 / 99.0, 0.01);
}

// --- Properties ---

rc::Gen<Neighbourhood> aNeighbourhood(rc::Gen<Share> share) {
  return rc::gen::apply(
      [](const std::vector<Profile>& profiles, const Share& arriving, const Pressure& background,
         ContentionModel model, int rus) {
        Neighbourhood there;
        for (const Profile& profile : profiles) there.tasks.push_back({profile.caused, profile.tolerated});
        there.share = arriving;
        there.background = background;
        there.model = model;
        there.rus = rus;
        return there;
      },
      rc::gen::container<std::vector<Profile>>(aProfile()), share, aPressure(),
      rc::gen::element(ContentionModel::kSum, ContentionModel::kMean, ContentionModel::kSlowdowns),
      rc::gen::inRange(1, 64));
}

RC_GTEST_PROP(ImpactProperty, AddingNothingChangesNothing, ()) {
  const Neighbourhood there = *aNeighbourhood(aShare());
  const auto impacts = impactOf(there, Pressure{});
  RC_ASSERT(impacts.size() == there.tasks.size());
  for (const Impact& impact : impacts) RC_ASSERT(impact.before == impact.after);
}

// Clamping aside: with a tenth of every pressure, nothing is clamped.
RC_GTEST_PROP(ImpactProperty, AfterIsBeforeLessWhatArrivesOfTheNewcomers, ()) {
  Neighbourhood there = *aNeighbourhood(aShare());
  there.model = ContentionModel::kSum;
  there.tasks.resize(std::min<size_t>(there.tasks.size(), 2));
  const auto tenth = [](Pressure& pressure) {
    for (uint8_t& value : pressure) value /= 10;
  };
  for (Neighbour& task : there.tasks) tenth(task.caused);
  tenth(there.background);
  Pressure newcomer = *aPressure();
  tenth(newcomer);
  for (const Impact& impact : impactOf(there, newcomer)) {
    for (size_t i = 0; i < kResources; ++i) {
      if (impact.before[i] == kNoResident) {
        RC_ASSERT(impact.after[i] == kNoResident);
        continue;
      }
      const int arriving = scaled(int32_t{newcomer[i]}, there.share[i]);
      const int lost = impact.before[i] - impact.after[i];
      // Sums are rounded after they are scaled; with the whole share there is nothing to round.
      const int rounding = there.share[i] % kShareUnit == 0 ? 0 : 1;
      RC_ASSERT(std::abs(lost - arriving) <= rounding);
    }
  }
}

RC_GTEST_PROP(ImpactProperty, NobodyGainsAndTheWorstComeFirst, ()) {
  const Neighbourhood there = *aNeighbourhood(aShare());
  const auto impacts = impactOf(there, *aPressure());
  for (size_t k = 0; k < impacts.size(); ++k) {
    for (size_t i = 0; i < kResources; ++i) RC_ASSERT(impacts[k].after[i] <= impacts[k].before[i]);
    RC_ASSERT(impacts[k].satisfactionAfter <= impacts[k].satisfactionBefore);
    if (k > 0) RC_ASSERT(!isWorse(impacts[k], impacts[k - 1]));
  }
}

}  // namespace tarcil::impact_test
