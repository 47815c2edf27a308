#include "core/model/slowdown.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <vector>

#include "classifier/corun.h"
#include "core/state/server.h"
#include "tests/core/model/generators.h"

namespace tarcil::slowdown_test {

std::vector<Slowdown> someSlowdowns() {
  const auto excesses = *rc::gen::nonEmpty(rc::gen::container<std::vector<uint8_t>>(aPressureValue()));
  std::vector<Slowdown> slowdowns;
  slowdowns.reserve(excesses.size());
  for (uint8_t excess : excesses) slowdowns.push_back(slowdownAt(excess));
  return slowdowns;
}

Slowdowns allOf(const std::vector<Slowdown>& each) {
  Slowdowns all;
  for (Slowdown slowdown : each) all.add(slowdown);
  return all;
}

TEST(Slowdown, APointBeyondTheOnsetIsAHundredthOfTheSpeed) {
  for (uint8_t excess = 0; excess < kMaxPressure; ++excess) {
    EXPECT_NEAR(satisfaction(slowdownAt(excess)), 1 - excess / 99.0, 0.0005) << int{excess};
  }
  EXPECT_NEAR(satisfaction(slowdownAt(kMaxPressure)), 0.01, 0.001) << "nothing stands still";
}

TEST(Slowdown, WhatIsToleratedCostsATwentieth) {
  Profile profile;
  profile.tolerated = Profile::filled(40);
  const Pressure onsets = onsetsOf(profile.tolerated);
  EXPECT_NEAR(satisfaction(slowdownBeside(profile.tolerated, onsets)), 0.95, 0.001);
  EXPECT_EQ(slowdownBeside(Profile::filled(35), onsets), 0u);
}

TEST(Slowdown, IsThatOfTheWorstResource) {
  const Pressure onsets = Profile::filled(30);
  Pressure caused{};
  caused[3] = 40;
  EXPECT_EQ(slowdownBeside(caused, onsets), slowdownAt(10));
  caused[7] = 60;
  EXPECT_EQ(slowdownBeside(caused, onsets), slowdownAt(30));
}

TEST(Slowdown, NothingDisturbsWhoToleratesAllThereIs) {
  EXPECT_EQ(slowdownBeside(Profile::filled(99), onsetsOf(Profile::filled(99))), 0u);
  EXPECT_GT(slowdownBeside(Profile::filled(99), onsetsOf(Profile::filled(98))), 0u);
}

TEST(Slowdowns, OfNobodyIsNone) {
  EXPECT_EQ(satisfaction(Slowdowns{}.together()), 1.0);
}

// The classifier combines measured performances in this way, in floating point.
RC_GTEST_PROP(Slowdowns, CombineAsMeasuredPerformancesDo, ()) {
  const std::vector<Slowdown> each = someSlowdowns();
  std::vector<double> performances;
  performances.reserve(each.size());
  for (Slowdown slowdown : each) performances.push_back(satisfaction(slowdown));
  RC_ASSERT(std::abs(satisfaction(allOf(each).together()) - performanceBeside(performances)) < 0.004);
}

RC_GTEST_PROP(Slowdowns, LieBetweenTheWorstAndTheSum, ()) {
  const Slowdowns all = allOf(someSlowdowns());
  RC_ASSERT(all.together() >= all.worst);
  RC_ASSERT(all.together() <= all.sum);
}

RC_GTEST_PROP(Slowdowns, OneMoreNeighbourNeverHelps, ()) {
  const std::vector<Slowdown> each = someSlowdowns();
  Slowdowns all = allOf(each);
  const Slowdown before = all.together();
  all.add(slowdownAt(*aPressureValue()));
  RC_ASSERT(all.together() >= before);
}

RC_GTEST_PROP(Slowdowns, SeveralAlikeAreAddedAtOnce, ()) {
  const std::vector<Slowdown> each = someSlowdowns();
  const auto times = *rc::gen::inRange<uint32_t>(0, 9);
  const Slowdown more = slowdownAt(*aPressureValue());
  Slowdowns atOnce = allOf(each), oneByOne = atOnce;
  atOnce.add(more, times);
  for (uint32_t i = 0; i < times; ++i) oneByOne.add(more);
  RC_ASSERT(atOnce == oneByOne);
}

TEST(Slowdowns, TheFullestServerDoesNotOverflow) {
  Slowdowns all;
  all.add(slowdownAt(kMaxPressure), kMaxServerRus);
  EXPECT_EQ(all.sum, uint64_t{slowdownAt(kMaxPressure)} * kMaxServerRus);
  EXPECT_GT(all.together(), all.worst);
}

}  // namespace tarcil::slowdown_test
