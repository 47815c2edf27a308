// Servers that take no new tasks because a task there suffers.
#include "tests/master/logic/health/degraded_tasks.h"

namespace tarcil::master::auto_cordon_test {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

struct AutoCordons : DegradedTasks {};

TEST_F(AutoCordons, KeepNewTasksAwayUntilTheViolationHasBeenOverForAWhile) {
  const AllocationId task = run(1, watched(0, false));
  tell(violation(task, Cause::Kind::kBackground));
  EXPECT_TRUE(view("a").autoCordoned);
  EXPECT_TRUE(master.status("a").cordoned) << "agents see it";
  EXPECT_THAT(view("a").reason, HasSubstr("task 0 of job (job 1)"));
  EXPECT_THAT(steps(1), ElementsAre(HasSubstr("no new tasks on a: it performs at 50% of what is expected")));
  tell(over(task));
  EXPECT_TRUE(view("a").autoCordoned) << "it may come back";
  master.pass(1min);
  EXPECT_FALSE(view("a").autoCordoned);
  EXPECT_FALSE(master.status("a").cordoned);
  EXPECT_EQ(view("a").reason, "");
}

TEST_F(AutoCordons, EndWithTheirTaskAndAfterTenMinutesAndWhenAnOperatorUncordons) {
  const AllocationId first = run(1, watched(0, false));
  tell(violation(first, Cause::Kind::kNetwork));
  master.ended(monitor, first, exitedWith(0));
  master.pass(1min);
  EXPECT_FALSE(view("a").autoCordoned);

  master.pass(50min);
  const AllocationId second = run(2, watched(0, false));
  tell(violation(second, Cause::Kind::kNetwork));
  master.pass(9min);
  EXPECT_TRUE(view("a").autoCordoned);
  master.pass(1min);
  EXPECT_FALSE(view("a").autoCordoned) << "the violation lasts, but the others want to run too";
  master.pass(10min);
  EXPECT_FALSE(view("a").autoCordoned) << "nor again for the same task";

  master.pass(40min);
  const AllocationId third = run(3, watched(0, false));
  tell(violation(third, Cause::Kind::kNetwork));
  EXPECT_TRUE(view("a").autoCordoned);
  master.steer("a", ServerChange::kUncordon);
  EXPECT_FALSE(view("a").autoCordoned);
}

TEST_F(AutoCordons, AreFarApartOnOneServer) {
  const AllocationId first = run(1, watched(0, false)), second = run(2, watched(0, false));
  tell(violation(first, Cause::Kind::kNetwork));
  tell(over(first));
  master.pass(3min);
  tell(violation(first, Cause::Kind::kNetwork));
  EXPECT_FALSE(view("a").autoCordoned) << "a task that falls short now and then would close it for good";
  tell(violation(second, Cause::Kind::kNetwork));
  EXPECT_FALSE(view("a").autoCordoned) << "so would one task after the other";
  master.pass(49min);
  EXPECT_TRUE(view("a").autoCordoned) << "both are still degraded";
}

TEST_F(AutoCordons, DoNotComeBackAtOnceWhenAnOperatorUncordons) {
  const AllocationId first = run(1, watched(0, false)), second = run(2, watched(0, false));
  tell(violation(first, Cause::Kind::kNetwork));
  tell(violation(second, Cause::Kind::kNetwork));
  master.steer("a", ServerChange::kUncordon);
  master.pass(10s);
  EXPECT_FALSE(view("a").autoCordoned) << "the other one would ask for it at once";
}

TEST_F(AutoCordons, AreNotShownWhereAnOperatorCordoned) {
  tell(violation(run(1, watched(0, false)), Cause::Kind::kNetwork));
  master.steer("a", ServerChange::kCordon);
  EXPECT_FALSE(view("a").autoCordoned) << "that ends, and the server still takes no tasks";
  EXPECT_EQ(view("a").reason, "cordoned by root");
}

TEST_F(AutoCordons, StayWhileAnotherTaskThereIsDegraded) {
  const AllocationId first = run(1, watched(0, false)), second = run(2, watched(0, false));
  tell(violation(first, Cause::Kind::kNetwork));
  tell(violation(second, Cause::Kind::kNetwork));
  master.ended(monitor, first, exitedWith(0));
  master.pass(2min);
  EXPECT_TRUE(view("a").autoCordoned);
  tell(over(second));
  master.pass(1min);
  EXPECT_FALSE(view("a").autoCordoned);
}

TEST_F(AutoCordons, OutliveTheConnectionOfTheMonitor) {
  const AllocationId task = run(1, watched(0, false));
  tell(violation(task, Cause::Kind::kNetwork));
  reattach(task);
  tell(violation(task, Cause::Kind::kNetwork));
  master.pass(2min);
  EXPECT_TRUE(view("a").autoCordoned) << "the violation lasts";
  tell(over(task));
  master.pass(1min);
  EXPECT_FALSE(view("a").autoCordoned);
}

TEST_F(AutoCordons, AreNoMoreThanTheOptionAllows) {
  const AllocationId first = run(1, watched(0, false), 0), second = run(2, watched(0, false), 1);
  tell(violation(first, Cause::Kind::kDisk));
  tell(violation(second, Cause::Kind::kDisk));
  EXPECT_TRUE(view("a").autoCordoned);
  EXPECT_FALSE(view("b").autoCordoned) << "one of two is more than ten per cent already";
}

TEST_F(BesideReservation, DoesNotAutoCordonTheReservedServer) {
  master.steer("b", ServerChange::kCordon);
  reserveBothServers();
  const AllocationId there = master.task(2, 0).allocation;
  tell(violation(there, Cause::Kind::kNetwork));
  EXPECT_FALSE(view("a").autoCordoned);
}

}  // namespace tarcil::master::auto_cordon_test
