// Tasks that get more units where they are.
#include "tests/master/logic/health/degraded_tasks.h"

namespace tarcil::master::resizing_test {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

struct Growing : DegradedTasks {
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
  EXPECT_EQ(master.freeUnits("a"), 3u) << "nobody says that it is degraded";
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

TEST_F(Growing, GivesNoUnitWhoseMemoryIsTaken) {
  ServerFacts small = serverFacts("a", 4);
  small.memoryBytes = 4 << 20;
  monitor = master.attachMonitor("m", {small, serverFacts("b", 4)}, {{task, "a"}});
  JobSpec large = spec();
  large.limits.memoryBytes = 3 << 20;
  const AllocationId holder = run(2, large);
  EXPECT_THAT(only<ResizeTask>(tell(violation(task, Cause::Kind::kCores))), IsEmpty());
  master.ended(monitor, holder, exitedWith(0));
  grown(master.pass(10s));
  EXPECT_EQ(view("a").status.allocated.memory, uint64_t{2} << 20);
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
  EXPECT_THAT(steps(1),
              ElementsAre(HasSubstr("gets no unit more of a while job (job 2) waits, which could use it")))
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

}  // namespace tarcil::master::resizing_test
