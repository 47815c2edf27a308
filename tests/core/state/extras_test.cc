#include "core/state/extras.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tarcil::state_extras_test {

TEST(Extras, AreTakenFromTheLowestAndComeBack) {
  const Extras there = {{"gpus", 3}, {"licences", 1}};
  FreeExtras free = allExtras(there);
  const ExtraNumbers first = lowestExtras(free, {{"gpus", 2}});
  EXPECT_EQ(first, (ExtraNumbers{{"gpus", {0, 1}}}));
  takeExtras(free, first);
  EXPECT_EQ(lowestExtras(free, {{"gpus", 1}, {"licences", 1}}),
            (ExtraNumbers{{"gpus", {2}}, {"licences", {0}}}));
  returnExtras(free, first, there);
  EXPECT_EQ(free, allExtras(there));
}

TEST(Extras, AreThereOnlyWhereEveryKindIs) {
  FreeExtras free = allExtras({{"gpus", 2}, {"licences", 1}});
  EXPECT_TRUE(haveExtras(free, {}));
  EXPECT_TRUE(haveExtras(free, {{"gpus", 2}, {"licences", 1}}));
  EXPECT_FALSE(haveExtras(free, {{"gpus", 3}}));
  EXPECT_FALSE(haveExtras(free, {{"tapes", 1}}));
  takeExtras(free, {{"licences", {0}}});
  EXPECT_FALSE(haveExtras(free, {{"gpus", 2}, {"licences", 1}}));
}

TEST(Extras, DoNotComeBackToAServerThatNoLongerHasThem) {
  FreeExtras free = allExtras({{"gpus", 1}});
  takeExtras(free, {{"gpus", {0}}});
  returnExtras(free, {{"gpus", {0, 1, 2}}, {"tapes", {0}}}, {{"gpus", 2}});
  EXPECT_EQ(free, allExtras({{"gpus", 2}}));
}

TEST(Extras, NameAVariableOfTheEnvironment) {
  EXPECT_EQ(extraVariable("gpus"), "TARCIL_EXTRA_GPUS");
  EXPECT_EQ(extraVariable("Tape-drive.v2"), "TARCIL_EXTRA_TAPE_DRIVE_V2");
}

}  // namespace tarcil::state_extras_test
