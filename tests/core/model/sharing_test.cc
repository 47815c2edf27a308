// What sharing servers gains.
#include "core/model/sharing.h"

#include <gtest/gtest.h>

namespace tarcil::sharing_test {

TEST(Sharing, CountsWholeServersForEachJob) {
  // Four tasks of two units fill one server of eight; five need a second.
  EXPECT_EQ(unitsAlone({.tasks = 4, .rusPerTask = 2}, 8), 8u);
  EXPECT_EQ(unitsAlone({.tasks = 5, .rusPerTask = 2}, 8), 16u);
  EXPECT_EQ(unitsAlone({{.tasks = 1, .rusPerTask = 1}, {.tasks = 1, .rusPerTask = 1}}, 8), 16u);
}

TEST(Sharing, LeavesUnitsThatATaskDoesNotFit) {
  EXPECT_EQ(unitsAlone({.tasks = 2, .rusPerTask = 5}, 8), 16u);
}

TEST(Sharing, TakesServersToBeAsLargeAsATaskNeedsThem) {
  EXPECT_EQ(unitsAlone({.tasks = 3, .rusPerTask = 16}, 8), 48u);
}

TEST(Sharing, OfNothingIsNothing) {
  EXPECT_EQ(unitsAlone(std::vector<RunningTasks>{}, 8), 0u);
  EXPECT_EQ(unitsAlone({.tasks = 0, .rusPerTask = 2}, 8), 0u);
  EXPECT_EQ(unitsUsed({}), 0u);
}

TEST(Sharing, CountsUnitsThatAreHeld) {
  EXPECT_EQ(unitsUsed({{.tasks = 4, .rusPerTask = 2}, {.tasks = 1, .rusPerTask = 3}}), 11u);
}

TEST(Sharing, UsualUnitsAreTheMedian) {
  EXPECT_EQ(usualUnits({64, 8, 8}), 8u);
  EXPECT_EQ(usualUnits({8, 64}), 64u);
  EXPECT_EQ(usualUnits({}), 0u);
}

}  // namespace tarcil::sharing_test
