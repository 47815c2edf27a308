#include "monitor/logic/pressure/background.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tarcil::background_test {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::SizeIs;

MeasuredPressure allAt(double value) {
  return {value, value, value, value, value, value, value, value, value, value};
}

// Measures once a second; keeps the messages.
struct Measured : testing::Test {
  Background background{"s1", {}};
  MonotonicTime now{};
  std::vector<ServerPressure> told;
  std::vector<MonotonicTime> when;

  void measure(const MeasuredPressure& measured) {
    now += 1s;
    if (auto message = background.take(measured, now)) {
      told.push_back(*message);
      when.push_back(now);
    }
  }
  void measure(double value, int times) {
    for (int i = 0; i < times; ++i) measure(allAt(value));
  }
  int toldCore() const { return told.back().background[0]; }
};

TEST_F(Measured, IsToldAtOnceTheFirstTime) {
  measure(20, 1);
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].server, "s1");
  EXPECT_EQ(toldCore(), 20);
}

TEST_F(Measured, IsNotToldAgainWhileItStaysTheSame) {
  measure(20, 1000);
  EXPECT_THAT(told, SizeIs(1));
}

TEST_F(Measured, DoesNotFlapBetweenTwoValues) {
  measure(20, 1);
  for (int i = 0; i < 1000; ++i) measure(i % 2 == 0 ? 17 : 24, 1);
  EXPECT_LE(told.size(), 2u);
}

TEST_F(Measured, ArrivesBySmoothing) {
  measure(0, 10);
  measure(80, 5);  // the time constant
  EXPECT_NEAR(*background.smoothed()[0], 80 * 0.632, 0.1);
  measure(80, 60);
  EXPECT_EQ(toldCore(), 80);
}

TEST_F(Measured, IsToldOfAJumpWithinTheLeastInterval) {
  measure(0, 10);
  const size_t before = told.size();
  measure(80, 2);
  ASSERT_GT(told.size(), before);
  EXPECT_EQ(when[before], now - 1s);
}

TEST_F(Measured, IsToldAtMostOnceInTheLeastInterval) {
  for (int i = 0; i < 100; ++i) measure(i * 7 % 99, 1);
  for (size_t i = 1; i < when.size(); ++i) EXPECT_GE(when[i] - when[i - 1], 2s);
  EXPECT_GT(told.size(), 10u);
}

TEST_F(Measured, IsRightInTheEndAlsoWhereTheChangeWasSmall) {
  measure(2, 1);
  measure(0, 25);
  EXPECT_EQ(toldCore(), 2);
  measure(0, 60);
  EXPECT_EQ(toldCore(), 0);
}

TEST_F(Measured, AbsentResourcesAreNamedAndNotZero) {
  MeasuredPressure measured = allAt(30);
  measured[4] = notFound("no resctrl");
  measure(measured);
  EXPECT_THAT(told.back().absent, ElementsAre(AbsentPressure{Resource::kLlc, "no resctrl"}));
  EXPECT_FALSE(background.smoothed()[4].has_value());
  EXPECT_TRUE(background.smoothed()[3].has_value());
}

TEST_F(Measured, IsToldWhenSomethingIsAbsentForAnotherReason) {
  MeasuredPressure measured = allAt(30);
  measured[4] = notFound("no resctrl");
  for (int i = 0; i < 10; ++i) measure(measured);
  EXPECT_THAT(told, SizeIs(1));
  measured[4] = notFound("no monitoring group is free");
  for (int i = 0; i < 10; ++i) measure(measured);
  ASSERT_THAT(told, SizeIs(2));
  EXPECT_EQ(told.back().absent.at(0).reason, "no monitoring group is free");
}

TEST_F(Measured, IsToldWhenSomethingBecomesAbsentAndBeginsAnewWhenItIsBack) {
  measure(30, 10);
  MeasuredPressure measured = allAt(30);
  measured[0] = invalid("/proc/stat:1: not a core");
  measure(measured);
  EXPECT_THAT(told.back().absent, SizeIs(1));
  EXPECT_EQ(toldCore(), 0);
  measure(60, 3);
  EXPECT_THAT(told.back().absent, SizeIs(0));
  EXPECT_EQ(toldCore(), 60);
}

TEST_F(Measured, StaysWithinWhatPressuresCanBe) {
  measure(1e9, 5);
  EXPECT_EQ(toldCore(), kMaxPressure);
  measure(-5, 200);
  EXPECT_EQ(toldCore(), 0);
}

}  // namespace tarcil::background_test
