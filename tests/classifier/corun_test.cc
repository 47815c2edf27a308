#include "classifier/corun.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace tarcil::corun_test {

double beside(const std::vector<double>& each) {
  return performanceBeside(each);
}

TEST(PerformanceBeside, IsOneWithoutNeighbours) {
  EXPECT_DOUBLE_EQ(beside({}), 1);
}

TEST(PerformanceBeside, IsWhatWasMeasuredBesideOneNeighbour) {
  EXPECT_DOUBLE_EQ(beside({0.4}), 0.4);
  EXPECT_DOUBLE_EQ(beside({1.2}), 1.2);
}

TEST(PerformanceBeside, CountsTheWorstSlowdownInFullAndTheOthersByFourFifths) {
  // Slowdowns of 1, 0.25 and 3.
  EXPECT_DOUBLE_EQ(beside({0.5, 0.8, 0.25}), 1 / (1 + 3 + 0.8 * 1.25));
}

TEST(PerformanceBeside, LetsNoNeighbourMakeUpForAnother) {
  EXPECT_DOUBLE_EQ(beside({0.5, 4}), 0.5);
}

TEST(PerformanceBeside, IsAboveOneOnlyWhereEveryNeighbourIs) {
  EXPECT_DOUBLE_EQ(beside({4, 2}), 2);
}

RC_GTEST_PROP(PerformanceBeside, IsNoBetterThanBesideTheWorstAndFallsWithEachNeighbour, ()) {
  const auto percents = *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 120)));
  std::vector<double> each;
  double before = std::numeric_limits<double>::infinity();
  for (int percent : percents) {
    each.push_back(percent / 100.0);
    const double now = beside(each);
    RC_ASSERT(now > 0);
    RC_ASSERT(now <= each.back() + 1e-12);
    RC_ASSERT(now <= before + 1e-12);
    before = now;
  }
}

}  // namespace tarcil::corun_test
