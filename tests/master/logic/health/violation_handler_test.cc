// Tasks that perform below what their jobs expect.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/master/master_harness.h"

namespace tarcil::violation_handler_test {

using namespace master;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Servers a and b of four units each; the job's task runs on a.
struct Adjusting : testing::Test {
  explicit Adjusting(MasterOptions options = {}) : master(options) {}

  MasterHarness master;
  SessionId monitor = master.attachMonitor("m", {serverFacts("a", 4), serverFacts("b", 4)});
  SessionId agent = master.attachAgent("x");

  AllocationId run(int number, const JobSpec& spec, ServerId server = 0, const std::string& user = "alice") {
    Commit commit = newJob(number, spec);
    commit.newJob->record.user = user;
    commit.claims = {claim(0, server, spec.rusPerTask)};
    const AllocationId allocation = master.place(agent, commit);
    master.started(monitor, allocation);
    return allocation;
  }
  static JobSpec watched(uint32_t moreRus, bool move, uint32_t rus = 1) {
    JobSpec job = spec(1, rus);
    job.performance = PerformanceGoal{};
    job.adjust = {moreRus, move};
    return job;
  }
  static Violation violation(AllocationId allocation, Cause::Kind kind) {
    Violation violation;
    violation.allocation = allocation;
    violation.expected = 100;
    violation.measured = 50;
    violation.causes = {{kind, std::nullopt, 0, 1, "so it seems"}};
    return violation;
  }
  static Violation over(AllocationId allocation) {
    Violation violation;
    violation.allocation = allocation;
    violation.over = true;
    return violation;
  }
  std::vector<Action> tell(const Violation& violation) {
    return master.handle(ViolationsReported{monitor, {violation}});
  }
  std::vector<Action> answer(const ResizeTask& resize, Status status = {}) {
    return master.handle(TaskResized{resize.session, resize.allocation, resize.rus, std::move(status)});
  }
  // The monitor's connection ends, and it comes back with the task on server a.
  std::vector<Action> reattach(AllocationId allocation) {
    master.detach(monitor);
    monitor = master.attachMonitor("m", {serverFacts("a", 4), serverFacts("b", 4)}, {{allocation, "a"}});
    return master.lastActions();
  }
  ServerView view(const std::string& server) { return *master.logic().server(server); }
  std::vector<std::string> steps(int number) {
    std::vector<std::string> texts;
    for (const AdjustingStep& step : master.job(number).steps) texts.push_back(step.text);
    return texts;
  }
};

TEST_F(Adjusting, ShowsWhoSuffersAndFromWhom) {
  const AllocationId victim = run(1, watched(0, false)), offender = run(2, spec());
  Violation told = violation(victim, Cause::Kind::kNeighbour);
  told.causes.front().neighbour = offender;
  told.causes.front().resource = Resource::kLlc;
  tell(told);
  ASSERT_THAT(master.job(1).violations, SizeIs(1));
  const TaskViolation shown = master.job(1).violations.front();
  EXPECT_EQ(shown.violation, told);
  EXPECT_EQ(shown.server, "a");
  EXPECT_THAT(shown.neighbours, ElementsAre(HasSubstr("task 0 of job (job 0002")));
  EXPECT_EQ(view("a").violations, master.job(1).violations);
  EXPECT_THAT(view("b").violations, IsEmpty());
  tell(over(victim));
  EXPECT_THAT(master.job(1).violations, IsEmpty());
  EXPECT_THAT(view("a").violations, IsEmpty());
}

TEST_F(Adjusting, IgnoresWhatAMonitorSaysOfTasksOfOthers) {
  const AllocationId task = run(1, watched(0, true));
  const SessionId other = master.attachMonitor("n", {serverFacts("c", 4)});
  master.handle(ViolationsReported{other, {violation(task, Cause::Kind::kDisk)}});
  EXPECT_THAT(master.job(1).violations, IsEmpty());
  EXPECT_FALSE(view("a").autoCordoned);
  tell(violation(task + 1000, Cause::Kind::kDisk));
  EXPECT_EQ(master.logic().load().isDegraded, 0u);
}

TEST_F(Adjusting, KeepsNewTasksAwayUntilTheTroubleHasBeenOverForAWhile) {
  const AllocationId task = run(1, watched(0, false));
  tell(violation(task, Cause::Kind::kBackground));
  EXPECT_TRUE(view("a").autoCordoned);
  EXPECT_TRUE(master.status("a").cordoned) << "agents see it";
  EXPECT_THAT(view("a").reason, HasSubstr("task 0 of job (job 0001"));
  EXPECT_THAT(steps(1), ElementsAre(HasSubstr("no new tasks on a: it performs at 50% of what is expected")));
  tell(over(task));
  EXPECT_TRUE(view("a").autoCordoned) << "it may come back";
  master.pass(1min);
  EXPECT_FALSE(view("a").autoCordoned);
  EXPECT_FALSE(master.status("a").cordoned);
  EXPECT_EQ(view("a").reason, "");
}

TEST_F(Adjusting, AShieldEndsWithItsTaskAndAfterTenMinutesAndWhenAnOperatorWantsItTo) {
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
  EXPECT_FALSE(view("a").autoCordoned) << "the trouble lasts, but the others want to run too";
  master.pass(10min);
  EXPECT_FALSE(view("a").autoCordoned) << "nor again for the same task";

  master.pass(40min);
  const AllocationId third = run(3, watched(0, false));
  tell(violation(third, Cause::Kind::kNetwork));
  EXPECT_TRUE(view("a").autoCordoned);
  master.steer("a", ServerChange::kUncordon);
  EXPECT_FALSE(view("a").autoCordoned);
}

TEST_F(Adjusting, AShieldedServerTakesTasksForALongWhileBeforeItIsShieldedAgain) {
  const AllocationId first = run(1, watched(0, false)), second = run(2, watched(0, false));
  tell(violation(first, Cause::Kind::kNetwork));
  tell(over(first));
  master.pass(3min);
  tell(violation(first, Cause::Kind::kNetwork));
  EXPECT_FALSE(view("a").autoCordoned) << "a task that falls short now and then would close it for good";
  tell(violation(second, Cause::Kind::kNetwork));
  EXPECT_FALSE(view("a").autoCordoned) << "so would one task after the other";
  master.pass(49min);
  EXPECT_TRUE(view("a").autoCordoned) << "both are still in trouble";
}

TEST_F(Adjusting, AnOperatorWhoEndsAShieldIsObeyed) {
  const AllocationId first = run(1, watched(0, false)), second = run(2, watched(0, false));
  tell(violation(first, Cause::Kind::kNetwork));
  tell(violation(second, Cause::Kind::kNetwork));
  master.steer("a", ServerChange::kUncordon);
  master.pass(10s);
  EXPECT_FALSE(view("a").autoCordoned) << "the other one would ask for it at once";
}

TEST_F(Adjusting, AServerThatAnOperatorCordonedIsShownSo) {
  tell(violation(run(1, watched(0, false)), Cause::Kind::kNetwork));
  master.steer("a", ServerChange::kCordon);
  EXPECT_FALSE(view("a").autoCordoned) << "that ends, and the server still takes no tasks";
  EXPECT_EQ(view("a").reason, "cordoned by root");
}

TEST_F(Adjusting, AShieldStaysWhileAnotherTaskThereIsInTrouble) {
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

TEST_F(Adjusting, AShieldOutlivesTheConnectionOfItsMonitor) {
  const AllocationId task = run(1, watched(0, false));
  tell(violation(task, Cause::Kind::kNetwork));
  reattach(task);
  tell(violation(task, Cause::Kind::kNetwork));
  master.pass(2min);
  EXPECT_TRUE(view("a").autoCordoned) << "the trouble lasts";
  tell(over(task));
  master.pass(1min);
  EXPECT_FALSE(view("a").autoCordoned);
}

TEST_F(Adjusting, ShieldsNoMoreServersThanItMay) {
  const AllocationId first = run(1, watched(0, false), 0), second = run(2, watched(0, false), 1);
  tell(violation(first, Cause::Kind::kDisk));
  tell(violation(second, Cause::Kind::kDisk));
  EXPECT_TRUE(view("a").autoCordoned);
  EXPECT_FALSE(view("b").autoCordoned) << "one of two is more than ten per cent already";
}

TEST_F(Adjusting, DoesNothingForATroubleThatItCannotExplain) {
  const AllocationId task = run(1, watched(3, false));
  tell(violation(task, Cause::Kind::kUnknown));
  EXPECT_FALSE(view("a").autoCordoned);
  EXPECT_EQ(master.freeUnits("a"), 3u);
  EXPECT_THAT(steps(1), IsEmpty());
}

struct Growing : Adjusting {
  AllocationId task = run(1, watched(2, false));

  ResizeTask grown(std::vector<Action> actions) {
    const auto resizes = only<ResizeTask>(actions);
    EXPECT_THAT(resizes, SizeIs(1));
    return resizes.empty() ? ResizeTask{} : resizes.front();
  }
};

TEST_F(Growing, GivesAUnitAfterTheOtherToATaskThatUsesAllOfItsOwn) {
  const ResizeTask first = grown(tell(violation(task, Cause::Kind::kCores)));
  EXPECT_EQ(first.rus, (std::vector<RuIndex>{0, 1}));
  EXPECT_EQ(master.task(1, 0).rus, first.rus);
  EXPECT_EQ(master.freeUnits("a"), 2u);
  EXPECT_FALSE(view("a").autoCordoned) << "others do it no harm";
  answer(first);
  EXPECT_THAT(only<ResizeTask>(tell(violation(task, Cause::Kind::kCores))), IsEmpty()) << "one at a time";
  const ResizeTask second = grown(master.pass(10s));
  EXPECT_THAT(second.rus, SizeIs(3));
  answer(second);
  EXPECT_THAT(only<ResizeTask>(master.pass(1min)), IsEmpty()) << "the job allows no more";
  EXPECT_THAT(steps(1), SizeIs(2));
}

TEST_F(Growing, WaitsForTheAnswerBeforeItGivesMore) {
  grown(tell(violation(task, Cause::Kind::kMemoryLimit)));
  EXPECT_THAT(only<ResizeTask>(master.pass(1min)), IsEmpty());
  EXPECT_THAT(master.task(1, 0).rus, SizeIs(2));
}

TEST_F(Growing, TakesUnitsBackOnlyWhenTheMonitorHasLetThemGo) {
  answer(grown(tell(violation(task, Cause::Kind::kCores))));
  tell(over(task));
  EXPECT_THAT(only<ResizeTask>(master.pass(59s)), IsEmpty());
  const ResizeTask shrunk = grown(master.pass(1s));
  EXPECT_EQ(shrunk.rus, (std::vector<RuIndex>{0}));
  EXPECT_EQ(master.freeUnits("a"), 2u) << "the task may still run on it";
  answer(shrunk);
  EXPECT_EQ(master.freeUnits("a"), 3u);
  EXPECT_EQ(master.task(1, 0).rus, shrunk.rus);
  master.pass(2min);
  EXPECT_EQ(master.logic().load().isDegraded, 0u);
}

TEST_F(Growing, IsSlowerToUndoWhatWasNeededAgain) {
  answer(grown(tell(violation(task, Cause::Kind::kCores))));
  tell(over(task));
  answer(grown(master.pass(1min)));
  answer(grown(tell(violation(task, Cause::Kind::kCores))));
  tell(over(task));
  EXPECT_THAT(only<ResizeTask>(master.pass(1min)), IsEmpty());
  grown(master.pass(1min));
}

TEST_F(Growing, FreesAUnitThatTheMonitorCannotGive) {
  const ResizeTask more = grown(tell(violation(task, Cause::Kind::kCores)));
  answer(more, Error{ErrorCode::kUnavailable, "no cpuset"});
  EXPECT_EQ(master.freeUnits("a"), 3u);
  EXPECT_EQ(master.task(1, 0).rus, (std::vector<RuIndex>{0}));
  EXPECT_THAT(only<ResizeTask>(master.pass(1min)), IsEmpty()) << "it is not asked again";
  EXPECT_THAT(steps(1).back(), HasSubstr("no cpuset"));
}

TEST_F(Growing, IgnoresAnAnswerToWhatItDoesNotWaitFor) {
  const ResizeTask more = grown(tell(violation(task, Cause::Kind::kCores)));
  master.handle(TaskResized{monitor, task, {0}, Error{ErrorCode::kUnavailable, "late"}});
  EXPECT_EQ(master.task(1, 0).rus, more.rus);
  master.handle(TaskResized{monitor + 1, task, more.rus, Error{ErrorCode::kUnavailable, "of another"}});
  EXPECT_EQ(master.task(1, 0).rus, more.rus);
}

TEST_F(Growing, FreesAllUnitsOfATaskThatEnds) {
  grown(tell(violation(task, Cause::Kind::kCores)));
  master.ended(monitor, task, exitedWith(0));
  EXPECT_EQ(master.freeUnits("a"), 4u);
  EXPECT_EQ(master.logic().load().isDegraded, 0u);
}

TEST_F(Growing, KeepsUnitsThatTheTaskMayBeUsingWhateverTheMonitorSays) {
  answer(grown(tell(violation(task, Cause::Kind::kCores))));
  const ResizeTask again = grown(reattach(task));
  answer(again, Error{ErrorCode::kNotFound, "it is being ended"});
  EXPECT_EQ(master.freeUnits("a"), 2u) << "its processes are still on it";
  master.ended(monitor, task, exitedWith(0));
  EXPECT_EQ(master.freeUnits("a"), 4u);
}

TEST_F(Growing, DoesNotGiveUnitsToATaskThatIsBeingEnded) {
  answer(grown(tell(violation(task, Cause::Kind::kCores))));
  master.cancel(1, theOperator());
  EXPECT_THAT(only<ResizeTask>(reattach(task)), IsEmpty());
  EXPECT_THAT(only<ResizeTask>(master.pass(5min)), IsEmpty());
}

TEST_F(Growing, ATaskKeepsAUnitThatItCannotDoWithoutAndIsAskedLater) {
  answer(grown(tell(violation(task, Cause::Kind::kMemoryLimit))));
  tell(over(task));
  answer(grown(master.pass(1min)), Error{ErrorCode::kConflict, "it uses more memory"});
  EXPECT_EQ(master.freeUnits("a"), 2u);
  EXPECT_THAT(only<ResizeTask>(master.pass(1min)), IsEmpty())
      << "to look for memory to spare costs it something";
  answer(grown(master.pass(1min)), Error{ErrorCode::kConflict, "it uses more memory"});
  answer(grown(tell(violation(task, Cause::Kind::kMemoryLimit))));
  EXPECT_THAT(master.task(1, 0).rus, SizeIs(3)) << "it can be given more";
}

TEST_F(Growing, AMonitorThatAttachesHearsOfTasksThatMayHaveGrown) {
  EXPECT_EQ(grown(reattach(task)).rus, (std::vector<RuIndex>{0}))
      << "it may have more, where the master's store is a copy of earlier days";
  const AllocationId other = run(2, watched(0, true));
  EXPECT_THAT(only<ResizeTask>(reattach(other)), IsEmpty());
}

TEST_F(Growing, UnitsCountForTheUsersPlaceInTheQueue) {
  answer(grown(tell(violation(task, Cause::Kind::kCores))));
  answer(grown(master.pass(10s)));
  run(2, spec(1, 2), 1, "bob");
  for (const auto& [number, user] : {std::pair(3, "alice"), {4, "bob"}}) {
    Commit waiting = newJob(number, spec());
    waiting.newJob->record.user = user;
    master.commit(agent, waiting);
  }
  EXPECT_EQ(master.job(4).ahead, 0u) << "bob has two units, alice three";
  EXPECT_EQ(master.job(3).ahead, 1u);
}

TEST_F(Growing, SurvivesARestartAndTellsTheMonitorAgain) {
  const ResizeTask more = grown(tell(violation(task, Cause::Kind::kCores)));
  master.restart();
  monitor = master.attachMonitor("m", {serverFacts("a", 4), serverFacts("b", 4)}, {{task, "a"}});
  const ResizeTask again = grown(master.lastActions());
  EXPECT_EQ(again.rus, more.rus);
  EXPECT_EQ(master.freeUnits("a"), 2u);
  answer(again);
  answer(grown(master.pass(1min)));
  EXPECT_EQ(master.freeUnits("a"), 3u) << "nobody says that it is in trouble";
}

TEST_F(Growing, CountsUnitsFromWhenTheyWereGiven) {
  master.pass(10s);
  grown(tell(violation(task, Cause::Kind::kCores)));
  master.pass(5s);
  master.ended(monitor, task, exitedWith(0));
  EXPECT_EQ(master.logic().usage(theOperator()).front().ruMicroseconds, 20'000'000u);
}

TEST_F(Growing, CountsUnitsOfBeforeARestart) {
  answer(grown(tell(violation(task, Cause::Kind::kCores))));
  tell(over(task));
  master.pass(30s);
  tell(violation(task, Cause::Kind::kCores));  // a second one
  master.pass(10min);
  master.restart();
  const uint64_t counted = master.logic().usage(theOperator()).front().ruMicroseconds;
  EXPECT_GE(counted, 2 * 590'000'000u);
}

TEST_F(Growing, LeavesTheTaskAloneWhereNothingIsFree) {
  run(2, spec(1, 3));
  EXPECT_THAT(only<ResizeTask>(tell(violation(task, Cause::Kind::kCores))), IsEmpty());
}

// A job waits that fits into what is left of server a.
struct Outranked : Growing {
  void wait(int number, const JobSpec& job) {
    Commit waiting = newJob(number, job);
    waiting.explanation.wanted = 1;
    master.commit(agent, waiting);
  }
};

TEST_F(Outranked, GivesNoUnitThatAWaitingJobCouldUse) {
  wait(2, spec(1, 3));
  EXPECT_THAT(only<ResizeTask>(tell(violation(task, Cause::Kind::kCores))), IsEmpty());
  master.pass(1min);
  EXPECT_THAT(
      steps(1),
      ElementsAre(HasSubstr("gets no unit more of a while job (job 00020000) waits, which could use it")))
      << "it is said once";
  master.cancel(2, theOperator());
  EXPECT_THAT(grown(master.pass(10s)).rus, SizeIs(2));
}

TEST_F(Outranked, GivesUnitsThatNoWaitingJobCouldUse) {
  wait(2, spec(1, 4));  // too large for what is left
  JobSpec elsewhere = spec(1);
  elsewhere.placement.constraints = {{"server", Constraint::Operator::kEqual, {"b"}}};
  wait(3, elsewhere);
  EXPECT_THAT(grown(tell(violation(task, Cause::Kind::kCores))).rus, SizeIs(2));
}

TEST_F(Outranked, GivesUnitsOfAServerThatTakesNoTasks) {
  wait(2, spec(1));
  master.steer("a", ServerChange::kCordon);
  EXPECT_THAT(grown(tell(violation(task, Cause::Kind::kCores))).rus, SizeIs(2));
}

// A task that uses up its units, on a server that has no other; three more would do.
struct Moving : Adjusting {
  AllocationId task = run(1, watched(3, true));

  Moving() { run(2, spec(1, 3)); }

  // Its trouble has it ended, and it has ended.
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

TEST_F(Adjusting, PressureOnAnotherServerCountsAgainstItsUnits) {
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

TEST_F(Adjusting, DoesNotMoveATaskThatIsBeingGivenAUnit) {
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

TEST_F(Adjusting, KeepsItsUnitsWhereItMovesForAnotherCause) {
  const AllocationId task = run(1, watched(1, true));
  answer(only<ResizeTask>(tell(violation(task, Cause::Kind::kCores))).front());
  tell(violation(task, Cause::Kind::kUnknown));
  master.pass(10s);
  EXPECT_THAT(steps(1).back(), HasSubstr("moved away from a to 2 units of b"));
}

TEST_F(Adjusting, CutsEvidenceBetweenCharacters) {
  const AllocationId task = run(1, watched(0, false));
  Violation told = violation(task, Cause::Kind::kDisk);
  told.causes.front().evidence = std::string(255, 'x') + "\u00e9" + std::string(9, 'y');
  tell(told);
  EXPECT_EQ(master.job(1).violations.front().violation.causes.front().evidence, std::string(255, 'x'));
}

TEST_F(Adjusting, MovesNoTaskToWhereItMayNotGo) {
  JobSpec job = watched(0, true);
  job.tasks = 2;
  job.placement.spread = Spread::kServer;
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

TEST_F(Adjusting, MovesNoTaskOfAJobThatIsHeld) {
  const AllocationId task = run(1, watched(0, true));
  master.handle(JobSteered{7, theOperator(), jobId(1), JobChange::kHold, 0});
  EXPECT_THAT(only<StopTask>(tell(violation(task, Cause::Kind::kUnknown))), IsEmpty())
      << "it could not start again";
  master.handle(JobSteered{8, theOperator(), jobId(1), JobChange::kRelease, 0});
  EXPECT_THAT(only<StopTask>(master.pass(10s)), SizeIs(1));
}

TEST_F(Adjusting, FindsTheOneBetterPlaceAmongManyServers) {
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

TEST_F(Adjusting, SaysNothingAbsurdOfAbsurdNumbers) {
  const AllocationId task = run(1, watched(0, false));
  Violation absurd = violation(task, Cause::Kind::kNetwork);
  absurd.expected = 1e-300;
  absurd.measured = -1e300;
  tell(absurd);
  EXPECT_THAT(steps(1), ElementsAre(HasSubstr("performs at 0% of what is expected")));
}

// A gang that has waited for so long that server a is kept for it; b takes no tasks.
struct KeptAway : Adjusting {
  KeptAway() : Adjusting(MasterOptions{.reservationDelay = 10s}) {}

  AllocationId task = run(1, watched(0, true), 1);

  void keep() {
    run(2, spec(1, 3));
    JobSpec gang = spec(2, 2);
    gang.schedule = Schedule::kGang;
    Commit waiting = newJob(3, gang);
    waiting.newJob->record.submitted = master.now().wall;
    waiting.explanation.wanted = 2;
    master.commit(agent, waiting);
    master.pass(20s);
    master.handle(SpaceMeasured{UINT64_MAX});
    ASSERT_THAT(master.queueTold().kept, ElementsAre(0u));
  }
};

TEST_F(KeptAway, MovesNoTaskToAServerThatIsKeptForAnother) {
  master.steer("b", ServerChange::kCordon);
  keep();
  EXPECT_THAT(only<StopTask>(tell(violation(task, Cause::Kind::kUnknown))), IsEmpty());
}

TEST_F(KeptAway, ShieldsNoServerThatIsKeptForAnother) {
  master.steer("b", ServerChange::kCordon);
  keep();
  const AllocationId there = master.task(2, 0).allocation;
  tell(violation(there, Cause::Kind::kNetwork));
  EXPECT_FALSE(view("a").autoCordoned);
}

TEST_F(Adjusting, MovesATaskAtLastToAPlaceThatIsBetter) {
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

TEST_F(Adjusting, MovesNothingWhereNoPlaceIsEnoughBetter) {
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

TEST_F(Adjusting, MovesNoTaskAgainAndAgain) {
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

}  // namespace tarcil::violation_handler_test
