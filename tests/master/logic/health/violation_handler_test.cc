// In which order steps are taken for a degraded task.
#include "tests/master/logic/health/degraded_tasks.h"

namespace tarcil::master::violation_handler_test {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

struct StepsForDegradedTasks : DegradedTasks {};

TEST_F(StepsForDegradedTasks, AreNotTakenForAViolationWithoutACause) {
  const AllocationId task = run(1, watched(3, false));
  tell(violation(task, Cause::Kind::kUnknown));
  EXPECT_FALSE(view("a").autoCordoned);
  EXPECT_EQ(master.freeUnits("a"), 3u);
  EXPECT_THAT(steps(1), IsEmpty());
}

TEST_F(StepsForDegradedTasks, AreTakenOneAtATime) {
  const AllocationId task = run(1, watched(1, true));
  const auto resizes = only<ResizeTask>(tell(violation(task, Cause::Kind::kCores)));
  ASSERT_THAT(resizes, SizeIs(1));
  EXPECT_THAT(only<StopTask>(master.pass(1min)), IsEmpty()) << "one step at a time";
  answer(resizes.front());
  EXPECT_THAT(only<StopTask>(master.pass(10s)), IsEmpty()) << "its units are all that it may have anywhere";
  Violation other = violation(task, Cause::Kind::kUnknown);
  tell(other);
  EXPECT_THAT(only<StopTask>(master.pass(10s)), SizeIs(1)) << "they did not help";
}

TEST_F(StepsForDegradedTasks, EndWithARelocation) {
  const AllocationId task = run(1, watched(0, true));
  tell(violation(task, Cause::Kind::kBackground));
  EXPECT_TRUE(view("a").autoCordoned);
  const auto stops = only<StopTask>(master.pass(10s));
  ASSERT_THAT(stops, SizeIs(1));
  EXPECT_EQ(stops.front().allocation, task);
  TaskEnd end;
  end.cause = EndCause::kCancelled;
  end.signal = 15;
  master.ended(monitor, task, end);
  EXPECT_EQ(master.stateOf(1), RunState::kQueued);
  EXPECT_EQ(master.task(1, 0).failures, 0u) << "the attempt does not count";
  EXPECT_THAT(master.task(1, 0).previous, HasSubstr("moved: it performs at 50%"));
  EXPECT_TRUE(view("a").autoCordoned) << "so that it does not come back at once";
}

}  // namespace tarcil::master::violation_handler_test
