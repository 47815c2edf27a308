#include "sim/faults/task_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tarcil::sim::task_checker_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class TaskCheckerTest : public testing::Test {
 protected:
  static LaunchSpec launch(AllocationId allocation, std::vector<RuIndex> rus) {
    LaunchSpec spec;
    spec.allocation = allocation;
    spec.server = "s";
    spec.rus = std::move(rus);
    return spec;
  }

  VirtualWorld world_{1, Log::kNone};
  TaskChecker checker_{world_};
};

TEST_F(TaskCheckerTest, SeesAUnitWithTwoOwners) {
  checker_.starts("m", launch(1, {0, 1}));
  checker_.starts("m", launch(2, {2}));
  EXPECT_THAT(world_.violations(), IsEmpty());
  checker_.starts("m", launch(3, {1}));
  EXPECT_THAT(world_.violations(), ElementsAre(HasSubstr("unit 1 of s has two owners")));
}

TEST_F(TaskCheckerTest, AUnitIsFreeWhenItsTaskHasEnded) {
  checker_.starts("m", launch(1, {0}));
  checker_.ended(1, {});
  checker_.starts("m", launch(2, {0}));
  EXPECT_THAT(world_.violations(), IsEmpty());
  EXPECT_EQ(checker_.running(), 1u);
}

TEST_F(TaskCheckerTest, SeesAUnitThatIsGivenToATaskThoughAnotherHasIt) {
  checker_.starts("m", launch(1, {0}));
  checker_.starts("m", launch(2, {1}));
  checker_.resized(1, {0, 2});
  EXPECT_THAT(world_.violations(), IsEmpty());
  checker_.resized(1, {0, 1});
  EXPECT_THAT(world_.violations(), ElementsAre(HasSubstr("two owners")));
}

TEST_F(TaskCheckerTest, SeesAnAllocationThatIsStartedAgain) {
  checker_.starts("m", launch(1, {0}));
  checker_.ended(1, {});
  checker_.starts("m", launch(1, {0}));
  EXPECT_THAT(world_.violations(), ElementsAre("allocation 1 was started twice"));
}

TEST_F(TaskCheckerTest, WhatWasLostWithItsMachineMayBeStartedAgain) {
  checker_.starts("m", launch(1, {0}));
  checker_.machineLost("m");
  EXPECT_EQ(checker_.running(), 0u);
  checker_.starts("m", launch(1, {0}));
  EXPECT_THAT(world_.violations(), IsEmpty());
}

TEST_F(TaskCheckerTest, SeesASecondCopyOfAnExclusiveTask) {
  LaunchSpec first = launch(1, {0}), second = launch(2, {1});
  first.exclusive = second.exclusive = true;
  second.server = "t";
  checker_.starts("m", first);
  checker_.starts("n", second);
  EXPECT_THAT(world_.violations(), ElementsAre(HasSubstr("two live copies")));
}

}  // namespace tarcil::sim::task_checker_test
