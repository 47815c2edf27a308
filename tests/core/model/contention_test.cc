#include "core/model/contention.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/core/model/generators.h"

namespace tarcil::contention_test {

constexpr Pressure kQuiet{};

TEST(Scaled, RoundsHalvesUp) {
  EXPECT_EQ(scaled(1, 128), 1);  // 0.5
  EXPECT_EQ(scaled(1, 127), 0);  // 0.496
  EXPECT_EQ(scaled(3, 128), 2);  // 1.5
  EXPECT_EQ(scaled(99, 0), 0);
  EXPECT_EQ(scaled(-1, 128), 0);   // -0.5
  EXPECT_EQ(scaled(-3, 128), -1);  // -1.5
}

TEST(Scaled, DoesNotClampSumsButClampsPressures) {
  EXPECT_EQ(scaled(9'900'000, 256), 9'900'000);
  EXPECT_EQ(scaled(Profile::filled(60), Share{512, 256, 128}), (Pressure{99, 60, 30}));
}

TEST(Contention, AddsNeighboursUpThenBackgroundThenClamps) {
  const PressureSum sum{150, 150, 61, 40, 1};
  const Share share{128, 256, 128, 256, 128};
  const Pressure background{20, 20, 3, 99, 0};
  EXPECT_EQ(contention(ContentionModel::kSum, sum, share, background, 8), (Pressure{95, 99, 34, 99, 1}));
}

TEST(Contention, ClampsOnlyAtTheEnd) {
  // 180 / 2 = 90: clamping the sum first would give 50.
  EXPECT_EQ(contention(ContentionModel::kSum, {180}, Share{128}, kQuiet, 8)[0], 90);
}

TEST(Contention, RoundsTheSumOnceInsteadOfEachPart) {
  // Two tasks of 1 at half share arrive as 1, although each alone would round up to 1.
  EXPECT_EQ(contention(ContentionModel::kSum, {2}, Share{128}, kQuiet, 8)[0], 1);
}

TEST(Contention, MeanDividesByTheOtherUnits) {
  const PressureSum sum{140, 10, 11};
  EXPECT_EQ(contention(ContentionModel::kMean, sum, fullShare(), kQuiet, 8), (Pressure{20, 1, 2}));
  EXPECT_EQ(contention(ContentionModel::kMean, {140}, Share{128}, Pressure{5}, 8)[0], 15);
}

TEST(Contention, MeanOnASingleUnitHearsNoNeighbours) {
  EXPECT_EQ(contention(ContentionModel::kMean, {90, 90}, fullShare(), Pressure{7}, 1), (Pressure{7}));
}

RC_GTEST_PROP(Contention, FollowsTheFormula, ()) {
  const PressureSum sum = *aSum();
  const Share share = *aShare();
  const Pressure background = *aPressure();
  const Pressure interference =
      contention(ContentionModel::kSum, sum, share, background, *rc::gen::inRange(1, 257));
  for (size_t i = 0; i < kResources; ++i) {
    const double arriving = std::floor(sum[i] * (share[i] / 256.0) + 0.5);
    RC_ASSERT(static_cast<double>(interference[i]) == std::min(99.0, arriving + background[i]));
  }
}

RC_GTEST_PROP(Contention, MeanOfOneNeighbouringUnitIsTheSum, ()) {
  const PressureSum sum = *aSum();
  const Share share = *aShare();
  const Pressure background = *aPressure();
  RC_ASSERT(contention(ContentionModel::kMean, sum, share, background, 2) ==
            contention(ContentionModel::kSum, sum, share, background, 2));
}

}  // namespace tarcil::contention_test
