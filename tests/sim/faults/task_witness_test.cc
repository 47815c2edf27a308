#include "sim/faults/task_witness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tarcil::sim::task_witness_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class TaskWitnessTest : public testing::Test {
 protected:
  static LaunchSpec launch(AllocationId allocation, std::vector<RuIndex> rus) {
    LaunchSpec spec;
    spec.allocation = allocation;
    spec.server = "s";
    spec.rus = std::move(rus);
    return spec;
  }

  VirtualWorld world_{1, Log::kNone};
  TaskWitness witness_{world_};
};

TEST_F(TaskWitnessTest, SeesAUnitWithTwoOwners) {
  witness_.starts("m", launch(1, {0, 1}));
  witness_.starts("m", launch(2, {2}));
  EXPECT_THAT(world_.violations(), IsEmpty());
  witness_.starts("m", launch(3, {1}));
  EXPECT_THAT(world_.violations(), ElementsAre(HasSubstr("unit 1 of s has two owners")));
}

TEST_F(TaskWitnessTest, AUnitIsFreeWhenItsTaskHasEnded) {
  witness_.starts("m", launch(1, {0}));
  witness_.ended(1, {});
  witness_.starts("m", launch(2, {0}));
  EXPECT_THAT(world_.violations(), IsEmpty());
  EXPECT_EQ(witness_.running(), 1u);
}

TEST_F(TaskWitnessTest, SeesAUnitThatIsGivenToATaskThoughAnotherHasIt) {
  witness_.starts("m", launch(1, {0}));
  witness_.starts("m", launch(2, {1}));
  witness_.resized(1, {0, 2});
  EXPECT_THAT(world_.violations(), IsEmpty());
  witness_.resized(1, {0, 1});
  EXPECT_THAT(world_.violations(), ElementsAre(HasSubstr("two owners")));
}

TEST_F(TaskWitnessTest, SeesAnAllocationThatIsStartedAgain) {
  witness_.starts("m", launch(1, {0}));
  witness_.ended(1, {});
  witness_.starts("m", launch(1, {0}));
  EXPECT_THAT(world_.violations(), ElementsAre("allocation 1 was started twice"));
}

TEST_F(TaskWitnessTest, WhatWasLostWithItsMachineMayBeStartedAgain) {
  witness_.starts("m", launch(1, {0}));
  witness_.machineLost("m");
  EXPECT_EQ(witness_.running(), 0u);
  witness_.starts("m", launch(1, {0}));
  EXPECT_THAT(world_.violations(), IsEmpty());
}

TEST_F(TaskWitnessTest, SeesASecondCopyOfAnExclusiveTask) {
  LaunchSpec first = launch(1, {0}), second = launch(2, {1});
  first.exclusive = second.exclusive = true;
  second.server = "t";
  witness_.starts("m", first);
  witness_.starts("n", second);
  EXPECT_THAT(world_.violations(), ElementsAre(HasSubstr("two live copies")));
}

}  // namespace tarcil::sim::task_witness_test
