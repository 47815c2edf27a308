#include "profiler/calibration.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tarcil::calibration_test {

ResourceCalibration losing(std::vector<DialPoint> lost) {
  ResourceCalibration resource;
  resource.lost = std::move(lost);
  return resource;
}

TEST(PressureThatTakes, LiesBetweenThePointsMeasured) {
  const ResourceCalibration resource = losing({{10, 0.1}, {50, 0.3}, {99, 0.5}});
  EXPECT_EQ(pressureThatTakes(resource, 0), 0);
  EXPECT_EQ(pressureThatTakes(resource, 0.05), 5);
  EXPECT_EQ(pressureThatTakes(resource, 0.2), 30);
  EXPECT_EQ(pressureThatTakes(resource, 0.5), 99);
}

TEST(PressureThatTakes, IsAllWhereMoreIsLostThanToAnotherKernel) {
  EXPECT_EQ(pressureThatTakes(losing({{50, 0.2}}), 0.3), 99);
}

TEST(PressureThatTakes, IsNothingWhereNothingIsLost) {
  EXPECT_EQ(pressureThatTakes(losing({{50, 0.2}}), -0.1), 0);
}

TEST(PressureThatTakes, TakesNoStepBackForNoise) {
  const ResourceCalibration resource = losing({{10, 0.1}, {25, 0.08}, {50, 0.2}});
  EXPECT_EQ(pressureThatTakes(resource, 0.1), 10);
  EXPECT_EQ(pressureThatTakes(resource, 0.2), 50);
}

TEST(PressureThatTakes, IsNotKnownWhereItCannotBeMeasured) {
  ResourceCalibration resource = losing({{50, 0.2}});
  resource.notContended = "each core has its own";
  EXPECT_FALSE(pressureThatTakes(resource, 0.1));
  EXPECT_FALSE(pressureThatTakes(losing({}), 0.1));
}

TEST(ShareFound, IsAllOfAWalkThatFitsAndAQuarterOfFourTimesTheCache) {
  // 10 ns a hit, 50 ns a miss: a walk through four times the cache takes 40 ns a step.
  EXPECT_DOUBLE_EQ(shareFound(10, 40, 4, 10), 1);
  EXPECT_DOUBLE_EQ(shareFound(10, 40, 4, 40), 0.25);
  EXPECT_DOUBLE_EQ(shareFound(10, 40, 4, 50), 0);
}

TEST(ShareFound, IsAllWhereTimesTellNothing) {
  EXPECT_EQ(shareFound(10, 10, 4, 10), 1);
}

TEST(SettingFor, LiesBetweenThePointsThatWereFound) {
  ResourceCalibration resource;
  EXPECT_EQ(settingFor(resource, 70), 70);
  resource.settings = {{10, 10}, {50, 50}, {99, 148}};
  EXPECT_EQ(settingFor(resource, 0), 0);
  EXPECT_EQ(settingFor(resource, 5), 5);
  EXPECT_EQ(settingFor(resource, 50), 50);
  EXPECT_EQ(settingFor(resource, 75), 100);
  EXPECT_EQ(settingFor(resource, 99), 148);
}

// Of a cache that keeps what fits, and of more than that ever less.
TEST(NextSetting, ComesNearInAFewSteps) {
  const auto held = [](int setting) { return 100 * (1 - std::exp(-setting / 70.0)); };
  for (int intensity : {25, 75, 90}) {
    int setting = intensity;
    for (int i = 0; i < 5; ++i) setting = nextSetting(intensity, setting, held(setting));
    EXPECT_NEAR(held(setting), intensity, 3) << intensity;
  }
  EXPECT_EQ(nextSetting(99, 200, 20), kFarthestSetting);
  EXPECT_EQ(nextSetting(99, 200, 0), kFarthestSetting);
}

TEST(WorstError, IsTheLargestDistanceOfADial) {
  ResourceCalibration resource;
  EXPECT_FALSE(worstError(resource));
  resource.reached = {{10, 11}, {50, 44}, {99, 99}};
  EXPECT_DOUBLE_EQ(*worstError(resource), 6);
}

}  // namespace tarcil::calibration_test
