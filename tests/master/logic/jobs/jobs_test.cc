// From the first report of a task to the end of its job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/master/master_harness.h"

namespace tarcil::jobs_test {

using namespace master;
using testing::ElementsAre;
using testing::IsEmpty;

struct Jobs : testing::Test {
  MasterHarness master;
  SessionId monitor = master.attachMonitor("m", {serverFacts("a", 32)});
  SessionId agent = master.attachAgent("x");

  // A job with every task placed; the allocations are consecutive from the one returned.
  AllocationId placed(int number, const JobSpec& spec) {
    Commit commit = newJob(number, spec);
    for (TaskIndex task = 0; task < spec.tasks; ++task) commit.claims.push_back(claim(task, 0));
    return master.place(agent, commit);
  }
  AllocationId placedAgain(int number, uint32_t attempt) {
    Commit commit = moreFor(number);
    commit.claims = {claim(0, 0)};
    commit.claims[0].attempt = attempt;
    return master.place(agent, commit);
  }
  static JobSpec retried(uint32_t attempts) {
    JobSpec retried = spec();
    retried.restart = {attempts, std::chrono::seconds(1), true};
    return retried;
  }
};

TEST_F(Jobs, RunOnceATaskHasStarted) {
  const AllocationId allocation = placed(1, spec());
  const auto actions = master.started(monitor, allocation);
  EXPECT_EQ(master.stateOf(1), RunState::kRunning);
  EXPECT_EQ(master.task(1, 0).end.started, master.now().wall);
  EXPECT_EQ(only<JobChanged>(actions).size(), 1u);
  EXPECT_EQ(only<AssignJob>(actions).at(0).assignment.tasks.at(0).state, RunState::kRunning);
  EXPECT_THAT(only<JobChanged>(master.started(monitor, allocation)), IsEmpty()) << "a repeat changes nothing";
  master.restart();
  EXPECT_EQ(master.stateOf(1), RunState::kRunning);
}

TEST_F(Jobs, AreDoneWhenEveryTaskIs) {
  const AllocationId allocation = placed(1, spec(2));
  master.ended(monitor, allocation, exitedWith(0));
  EXPECT_EQ(master.stateOf(1), RunState::kStarting);
  const auto actions = master.ended(monitor, allocation + 1, exitedWith(0));
  EXPECT_EQ(master.stateOf(1), RunState::kDone);
  EXPECT_EQ(master.job(1).progress.finished, master.now().wall);
  EXPECT_TRUE(only<JobChanged>(actions).at(0).finished);
  EXPECT_TRUE(only<AssignJob>(actions).at(0).assignment.over);
  EXPECT_EQ(master.freeUnits("a"), 32u);
  EXPECT_EQ(master.logic().agents().at(0).jobs, 0u);
}

TEST_F(Jobs, EndOnceHoweverOftenTheirEndIsReported) {
  const AllocationId allocation = placed(1, spec());
  master.ended(monitor, allocation, exitedWith(0));
  const auto again = master.ended(monitor, allocation, exitedWith(3));
  EXPECT_TRUE(only<AnswerReports>(again).at(0).status.ok());
  EXPECT_THAT(only<JobChanged>(again), IsEmpty());
  EXPECT_EQ(master.stateOf(1), RunState::kDone);
}

TEST_F(Jobs, SayHowManyTasksFailedAndHowTheFirst) {
  const AllocationId allocation = placed(1, spec(20));
  for (TaskIndex task = 0; task < 20; ++task) {
    master.ended(monitor, allocation + task, exitedWith(task == 3 || task == 7 ? static_cast<int>(task) : 0));
  }
  EXPECT_EQ(master.stateOf(1), RunState::kFailed);
  EXPECT_EQ(master.job(1).progress.reason, "2 of 20 tasks failed; first: task 3 exited with code 3");
}

TEST_F(Jobs, NameTheCauseOfTheirOnlyTask) {
  TaskEnd killed;
  killed.signal = 9;
  TaskEnd outOfMemory = killed;
  outOfMemory.oomKilled = true;
  TaskEnd neverStarted;
  neverStarted.cause = EndCause::kNeverStarted;
  neverStarted.exitCode = 127;
  neverStarted.problem = "no such program: xyz";
  TaskEnd timedOut = killed;
  timedOut.cause = EndCause::kTimedOut;
  const std::vector<std::pair<TaskEnd, std::string>> cases = {
      {killed, "the task was ended by signal 9"},
      {outOfMemory, "the task ran out of memory"},
      {neverStarted, "the task could not be started: no such program: xyz"},
      {timedOut, "the task ran longer than its timeout"}};
  for (int i = 0; i < static_cast<int>(cases.size()); ++i) {
    master.ended(monitor, placed(i, spec()), cases[static_cast<size_t>(i)].first);
    EXPECT_EQ(master.stateOf(i), RunState::kFailed);
    EXPECT_EQ(master.job(i).progress.reason, cases[static_cast<size_t>(i)].second);
  }
}

TEST_F(Jobs, AreDoneThoughAProcessOfTheirTaskWasKilledForMemory) {
  TaskEnd gotOver = exitedWith(0);
  gotOver.oomKilled = true;
  master.ended(monitor, placed(1, spec()), gotOver);
  EXPECT_EQ(master.stateOf(1), RunState::kDone);
  EXPECT_TRUE(master.task(1, 0).end.oomKilled);
}

TEST_F(Jobs, StartFailedTasksAgainAfterABackoffThatDoubles) {
  AllocationId allocation = placed(1, retried(2));
  for (uint32_t attempt = 1; attempt <= 2; ++attempt) {
    const auto assigned = only<AssignJob>(master.ended(monitor, allocation, exitedWith(1)));
    ASSERT_EQ(assigned.size(), 1u);
    const TaskAssignment& task = assigned[0].assignment.tasks.at(0);
    EXPECT_EQ(task.state, RunState::kQueued);
    EXPECT_EQ(task.attempt, attempt);
    EXPECT_EQ(task.delay, std::chrono::seconds(attempt));
    allocation = placedAgain(1, attempt);
  }
  master.ended(monitor, allocation, exitedWith(1));
  EXPECT_EQ(master.stateOf(1), RunState::kFailed);
  EXPECT_EQ(master.task(1, 0).failures, 3u);
}

TEST_F(Jobs, WaitTheWholeBackoffAgainAfterARestartOfTheMaster) {
  master.ended(monitor, placed(1, retried(1)), exitedWith(1));
  master.restart();
  master.attachAgent("x");
  EXPECT_EQ(master.agentAnswer().told.jobs.at(0).tasks.at(0).delay, std::chrono::seconds(1));
}

TEST_F(Jobs, AreLostWithTheirServerIfTheyWantItSo) {
  JobSpec fragile = spec();
  fragile.restart.onLost = false;
  placed(1, fragile);
  master.detach(monitor);
  master.pass(MasterOptions{}.serverTimeout);
  EXPECT_EQ(master.stateOf(1), RunState::kLost);
  EXPECT_EQ(master.job(1).progress.reason, "the task was lost: server a was out of reach for 60 s");
}

TEST_F(Jobs, AreStoredBeforeTheirEndIsTold) {
  const AllocationId allocation = placed(1, spec());
  master.dieBeforeStoring(ReportsArrived{1, monitor, {{allocation, true, exitedWith(0)}}});
  EXPECT_EQ(master.stateOf(1), RunState::kStarting);
  monitor = master.attachMonitor("m", {serverFacts("a", 32)}, {{allocation, "a"}});
  master.dieBeforeAnswering(ReportsArrived{2, monitor, {{allocation, true, exitedWith(0)}}});
  EXPECT_EQ(master.stateOf(1), RunState::kDone);
}

TEST(FinishedJobs, AreKeptUpToABound) {
  MasterOptions options;
  options.keepFinishedJobs = 2;
  MasterHarness master(options);
  const SessionId monitor = master.attachMonitor("m", {serverFacts("a", 4)});
  const SessionId agent = master.attachAgent("x");
  for (int number : {3, 1, 2}) {
    Commit commit = newJob(number, spec());
    commit.claims = {claim(0, 0)};
    commit.explanation.wanted = 1;
    const AllocationId allocation = master.place(agent, commit);
    master.pass(std::chrono::seconds(1));
    master.ended(monitor, allocation, exitedWith(0));
  }
  EXPECT_FALSE(master.logic().job(jobId(3))) << "the first to finish";
  EXPECT_TRUE(master.store().decisions(jobId(3))->empty());
  const StoreContents contents = *master.store().load();
  EXPECT_EQ(contents.jobs.size(), 2u);
  EXPECT_EQ(contents.tasks.size(), 2u);
  master.restart();
  EXPECT_EQ(master.logic().jobs(theOperator(), {}).jobs.size(), 2u);
}

// Three jobs of 1, 2 and 3, a day between their ends.
struct History : testing::Test {
  MasterHarness master;

  void endJobs(int count, Duration apart) {
    const SessionId monitor = master.attachMonitor("m", {serverFacts("a", 4)});
    const SessionId agent = master.attachAgent("x");
    for (int number = 1; number <= count; ++number) {
      Commit commit = newJob(number, spec());
      commit.claims = {claim(0, 0)};
      master.ended(monitor, master.place(agent, commit), exitedWith(0));
      master.pass(apart);
    }
  }
  size_t kept() { return master.store().load()->jobs.size(); }
};

TEST_F(History, ForgetsJobsWhenTheyAreOldThoughNothingElseHappens) {
  endJobs(3, std::chrono::days(1));
  master.pass(std::chrono::days(4) - std::chrono::seconds(1));
  EXPECT_EQ(kept(), 3u);
  master.pass(std::chrono::seconds(1));
  EXPECT_EQ(kept(), 2u);
  EXPECT_FALSE(master.logic().job(jobId(1))) << "the oldest goes first";
  master.restart();
  master.pass(std::chrono::days(1));
  EXPECT_EQ(kept(), 1u);
  master.pass(std::chrono::days(1));
  EXPECT_EQ(kept(), 0u);
}

TEST_F(History, IsKeptForAnHourWhereTheClockMayBeWrong) {
  endJobs(3, Duration::zero());
  master.skip(std::chrono::days(30));
  master.restart();
  EXPECT_GT(master.logic().doubtfulGap(), std::chrono::days(29));
  master.pass(std::chrono::minutes(59));
  EXPECT_EQ(kept(), 3u);
  master.pass(std::chrono::minutes(1));
  EXPECT_EQ(kept(), 0u);
}

TEST_F(History, IsErasedInBoundedBatches) {
  endJobs(500, Duration::zero());
  master.restart();
  std::vector<size_t> left;
  while (kept() > 0 && left.size() < 10) {
    if (left.empty()) {
      master.skip(std::chrono::days(8));
      master.handle(TimerFired{});
    } else {
      master.fireTimer();
    }
    left.push_back(kept());
  }
  EXPECT_THAT(left, ElementsAre(300, 100, 0));
}

TEST(JobCaps, AJobWithMoreTasksThanTheClusterTakesIsRefused) {
  MasterHarness h(MasterOptions{.maxTasksOfJob = 8});
  const SessionId agent = h.attachAgent("x");
  EXPECT_EQ(h.commit(agent, newJob(1, spec(8))).outcome, CommitAnswer::Outcome::kOk);
  const CommitAnswer answer = h.commit(agent, newJob(2, spec(9)));
  EXPECT_EQ(answer.outcome, CommitAnswer::Outcome::kRefused);
  EXPECT_EQ(answer.problem,
            "tasks: is 9, and this cluster takes at most 8 in one job (the master's --max-tasks-of-job); "
            "write fewer, or submit several jobs");
  EXPECT_FALSE(h.logic().job(jobId(2)));
}

}  // namespace tarcil::jobs_test
