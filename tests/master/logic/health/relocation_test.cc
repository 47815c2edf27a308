// Degraded tasks that start again on other servers.
#include "core/model/constraint.h"
#include "tests/master/logic/health/degraded_tasks.h"

namespace tarcil::master::relocation_test {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr uint64_t kGiB = uint64_t{1} << 30;

struct Relocations : DegradedTasks {};

// A task that uses up its units, on a server that has no other; three more would do.
struct Moving : DegradedTasks {
  AllocationId task = run(1, watched(3, true));

  Moving() { run(2, spec(1, 3)); }

  // The step taken for it ends it.
  void end() {
    EXPECT_EQ(master.task(1, 0).stopping, true);
    TaskEnd cancelled;
    cancelled.cause = EndCause::kCancelled;
    cancelled.signal = 15;
    actions = master.ended(monitor, task, cancelled);
  }
  std::vector<Action> actions;
};

TEST_F(Moving, ATaskThatUsesUpItsServerStartsElsewhereWithTheUnitsThatItNeeds) {
  Violation told = violation(task, Cause::Kind::kCores);
  told.measured = 40;
  EXPECT_THAT(only<StopTask>(tell(told)), SizeIs(1));
  EXPECT_THAT(steps(1), ElementsAre(HasSubstr("moved away from a to 3 units of b: it performs at 40%")));
  end();
  const TaskRecord there = master.task(1, 0);
  EXPECT_EQ(there.state, RunState::kStarting);
  EXPECT_EQ(there.server, "b");
  EXPECT_EQ(there.rus, (std::vector<RuIndex>{0, 1, 2}));
  EXPECT_EQ(there.failures, 0u);
  EXPECT_GT(there.s, 0.99);
  EXPECT_EQ(master.freeUnits("a"), 1u);
  EXPECT_EQ(master.freeUnits("b"), 1u);
  const auto assigned = only<AssignJob>(actions);
  ASSERT_THAT(assigned, SizeIs(1)) << "its owner launches it";
  EXPECT_EQ(assigned.front().assignment.tasks.front().allocation, there.allocation);
  EXPECT_EQ(assigned.front().assignment.tasks.front().rus, there.rus);
  EXPECT_THAT(steps(1).back(), HasSubstr("starts on 3 units of b"));
}

TEST_F(Moving, TheUnitsAreCountedAndGivenBackAsThoseThatItGotWhereItWas) {
  tell(violation(task, Cause::Kind::kCores));
  end();
  const AllocationId there = master.task(1, 0).allocation;
  ASSERT_THAT(master.task(1, 0).rus, SizeIs(2));
  EXPECT_THAT(only<ResizeTask>(master.pass(1min)), IsEmpty()) << "it does not run yet";
  master.started(monitor, there);
  const auto fewer = only<ResizeTask>(master.pass(1min));
  ASSERT_THAT(fewer, SizeIs(1));
  EXPECT_THAT(fewer.front().rus, SizeIs(1));
  answer(fewer.front());
  EXPECT_EQ(master.freeUnits("b"), 3u);
  master.ended(monitor, there, exitedWith(0));
  EXPECT_EQ(master.logic().usage(theOperator()).front().ruMicroseconds, 2 * 120'000'000u);
}

TEST_F(Moving, TakesTheUnitsThatThereAre) {
  run(3, spec(1, 2), 1);
  Violation told = violation(task, Cause::Kind::kCores);
  told.measured = 30;
  tell(told);
  EXPECT_THAT(steps(1), ElementsAre(HasSubstr("to 2 units of b")));
}

TEST_F(Moving, StaysWhereNoServerHasMoreUnitsForIt) {
  run(3, spec(1, 3), 1);
  EXPECT_THAT(only<StopTask>(tell(violation(task, Cause::Kind::kCores))), IsEmpty())
      << "the one unit that is left would do no more than its own";
}

TEST_F(Moving, ALittleMoreMemoryMayDoWhereALittleMoreOfACoreWouldNot) {
  Violation told = violation(task, Cause::Kind::kCores);
  told.measured = 5;
  run(3, spec(1, 2), 1);
  EXPECT_THAT(only<StopTask>(tell(told)), IsEmpty()) << "with two units it would reach a tenth";
  told.causes.front().kind = Cause::Kind::kMemoryLimit;
  tell(told);
  EXPECT_THAT(only<StopTask>(master.pass(10s)), SizeIs(1));
}

TEST_F(Relocations, CountPressureOnTheOtherServerAgainstItsUnits) {
  JobSpec quiet = watched(3, true);
  quiet.profile.tolerated = Profile::filled(50);
  const AllocationId task = run(1, quiet);
  run(2, spec(1, 3));
  JobSpec loud = spec();
  loud.profile = causing(Resource::kLlc, 95);
  const AllocationId offender = run(3, loud, 1);
  EXPECT_THAT(only<StopTask>(tell(violation(task, Cause::Kind::kCores))), IsEmpty());
  master.ended(monitor, offender, exitedWith(0));
  EXPECT_THAT(only<StopTask>(master.pass(10s)), SizeIs(1));
}

TEST_F(Relocations, GoWhereTheMemoryOfTheirUnitsIsLeft) {
  const AllocationId task = run(1, watched(3, true));
  run(2, spec(1, 3));
  run(3, spec(1, 4), 1);
  ServerFacts facts = serverFacts("c", 4);
  facts.memoryBytes = 16 * kGiB;
  const SessionId other = master.attachMonitor("n", {facts});
  Commit commit = newJob(4, spec());
  commit.newJob->record.spec.limits.memoryBytes = 12 * kGiB;
  commit.claims = {claim(0, 2)};
  const AllocationId holder = master.place(agent, commit);
  master.started(other, holder);
  EXPECT_THAT(only<StopTask>(tell(violation(task, Cause::Kind::kCores))), IsEmpty())
      << "three units of c are free, with memory for one";
  master.ended(other, holder, exitedWith(0));
  EXPECT_THAT(only<StopTask>(master.pass(10s)), SizeIs(1));
  EXPECT_THAT(steps(1), Contains(HasSubstr("to 2 units of c")));
}

TEST_F(Moving, WaitsLikeOthersWhereTheUnitsAreGoneWhenItHasEnded) {
  tell(violation(task, Cause::Kind::kCores));
  run(3, spec(1, 3), 1);
  end();
  EXPECT_EQ(master.stateOf(1), RunState::kQueued);
  EXPECT_THAT(steps(1).back(), HasSubstr("waits for any place: its units of b are not to be had any more"));
}

TEST_F(Moving, GetsNoUnitsElsewhereThatAWaitingJobCouldUse) {
  Commit waiting = newJob(3, spec(1));
  waiting.explanation.wanted = 1;
  master.commit(agent, waiting);
  EXPECT_THAT(only<StopTask>(tell(violation(task, Cause::Kind::kCores))), IsEmpty());
  master.cancel(3, theOperator());
  EXPECT_THAT(only<StopTask>(master.pass(10s)), SizeIs(1));
  waiting = newJob(4, spec(1));
  waiting.explanation.wanted = 1;
  master.commit(agent, waiting);
  end();
  EXPECT_EQ(master.task(1, 0).state, RunState::kQueued) << "one came meanwhile";
}

TEST_F(Moving, DoesNotComeBackWhenItsJobIsCancelledMeanwhile) {
  tell(violation(task, Cause::Kind::kCores));
  master.cancel(1, theOperator());
  end();
  EXPECT_EQ(master.stateOf(1), RunState::kCancelled);
  EXPECT_EQ(master.freeUnits("b"), 4u);
}

TEST_F(Moving, DoesNotComeBackWhenItEndsByItself) {
  tell(violation(task, Cause::Kind::kCores));
  master.ended(monitor, task, exitedWith(0));
  EXPECT_EQ(master.stateOf(1), RunState::kDone);
  EXPECT_EQ(master.freeUnits("b"), 4u);
}

TEST_F(Moving, ARestartedMasterTellsTheOwnerOfAllUnits) {
  tell(violation(task, Cause::Kind::kCores));
  end();
  const TaskRecord there = master.task(1, 0);
  master.restart();
  EXPECT_EQ(master.task(1, 0), there);
  EXPECT_EQ(master.freeUnits("b"), 2u);
  monitor = master.attachMonitor("m", {serverFacts("a", 4), serverFacts("b", 4)}, {{there.allocation, "b"}});
  EXPECT_THAT(only<ResizeTask>(master.lastActions()), IsEmpty()) << "it is launched with them";
}

TEST_F(Relocations, KeepExtraUnitsWhateverTheCause) {
  const AllocationId task = run(1, watched(1, true));
  answer(only<ResizeTask>(tell(violation(task, Cause::Kind::kCores))).front());
  tell(violation(task, Cause::Kind::kUnknown));
  master.pass(10s);
  EXPECT_THAT(steps(1).back(), HasSubstr("moved away from a to 2 units of b"));
}

TEST_F(Relocations, RespectTheJobsSpread) {
  JobSpec job = watched(0, true);
  job.tasks = 2;
  job.placement.spread = Domain::kServer;
  job.placement.atMost = 1;
  Commit commit = newJob(1, job);
  commit.claims = {claim(0, 0), claim(1, 1)};
  const AllocationId task = master.place(agent, commit);
  master.started(monitor, task);
  EXPECT_THAT(only<StopTask>(tell(violation(task, Cause::Kind::kUnknown))), IsEmpty())
      << "b has one of the job's tasks";
  master.ended(monitor, master.task(1, 1).allocation, exitedWith(0));
  EXPECT_THAT(only<StopTask>(master.pass(10s)), SizeIs(1));
}

TEST_F(Relocations, RespectWhatTheTaskRequires) {
  JobSpec job = watched(0, true);
  job.placement.requireOfTask = {{0, {onServers({"a"})}}};
  const AllocationId task = run(1, job);
  EXPECT_THAT(only<StopTask>(tell(violation(task, Cause::Kind::kUnknown))), IsEmpty());
}

TEST_F(Relocations, AreNotForTasksOfHeldJobs) {
  const AllocationId task = run(1, watched(0, true));
  master.handle(JobSteered{7, theOperator(), jobId(1), JobChange::kHold, 0});
  EXPECT_THAT(only<StopTask>(tell(violation(task, Cause::Kind::kUnknown))), IsEmpty())
      << "it could not start again";
  master.handle(JobSteered{8, theOperator(), jobId(1), JobChange::kRelease, 0});
  EXPECT_THAT(only<StopTask>(master.pass(10s)), SizeIs(1));
}

TEST_F(Relocations, FindTheOneBetterServerAmongMany) {
  std::vector<ServerFacts> many;
  for (int i = 2; i < 3000; ++i) many.push_back(serverFacts("s" + std::to_string(i), 1));
  master.attachMonitor("many", many);
  const AllocationId task = run(1, watched(0, true));
  const ServerId better = static_cast<ServerId>((task + 2000) % 2998) + 2;
  master.steer("b", ServerChange::kCordon);
  for (ServerId id = 2; id < 3000; ++id) {
    if (id != better) master.steer("s" + std::to_string(id), ServerChange::kCordon);
  }
  EXPECT_THAT(only<StopTask>(tell(violation(task, Cause::Kind::kUnknown))), IsEmpty()) << "not all at once";
  EXPECT_THAT(only<StopTask>(master.pass(5min)), SizeIs(1));
}

TEST_F(BesideReservation, RelocatesNoTaskToTheReservedServer) {
  master.steer("b", ServerChange::kCordon);
  reserveBothServers();
  EXPECT_THAT(only<StopTask>(tell(violation(task, Cause::Kind::kUnknown))), IsEmpty());
}

TEST_F(Relocations, TakeAServerThatIsEnoughBetterOnly) {
  JobSpec job = watched(0, true);
  job.profile.platforms = {{"p", 1.0}};
  const AllocationId task = run(1, job);
  run(2, spec(1, 4), 1);  // b is full
  tell(violation(task, Cause::Kind::kBackground));
  EXPECT_THAT(only<StopTask>(master.pass(1min)), IsEmpty());
  master.ended(monitor, task + 1, exitedWith(0));
  EXPECT_THAT(only<StopTask>(master.pass(10s)), SizeIs(1)) << "now b is free";

  const AllocationId nearly = run(3, job, 1);
  Violation slight = violation(nearly, Cause::Kind::kBackground);
  slight.measured = 95;
  tell(slight);
  EXPECT_THAT(only<StopTask>(master.pass(1min)), IsEmpty()) << "not worth what it has done so far";
}

TEST_F(Relocations, AreThreeForATask) {
  JobSpec job = watched(0, true);
  Commit commit = newJob(1, job);
  for (int i = 0; i < 4; ++i) {
    commit.claims = {claim(0, i % 2 == 0 ? 0u : 1u)};
    commit.claims.front().attempt = static_cast<uint32_t>(i);
    const AllocationId task = master.place(agent, commit);
    master.started(monitor, task);
    tell(violation(task, Cause::Kind::kUnknown));
    const size_t stopped = only<StopTask>(master.pass(1min)).size() + master.task(1, 0).stopping;
    EXPECT_EQ(stopped > 0, i < 3) << i;
    TaskEnd end;
    end.cause = EndCause::kCancelled;
    if (i < 3) master.ended(monitor, task, end);
    commit = moreFor(1);
  }
}

}  // namespace tarcil::master::relocation_test
