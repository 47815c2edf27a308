#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/master/master_harness.h"

namespace tarcil::cancel_test {

using namespace master;
using testing::IsEmpty;

// Job 1 of alice: task 0 runs, task 1 starts, task 2 is queued.
struct Cancel : testing::Test {
  MasterHarness master;
  SessionId monitor = master.attachMonitor("m", {serverFacts("a", 4)});
  SessionId agent = master.attachAgent("x");
  AllocationId running = 0, starting = 0;

  void SetUp() override {
    Commit commit = newJob(1, spec(3));
    commit.claims = {claim(0, 0), claim(1, 0)};
    running = master.place(agent, commit);
    starting = running + 1;
    master.started(monitor, running);
  }
  static ErrorCode codeOf(const std::vector<Action>& actions) {
    return only<Answer>(actions).at(0).status.error().code;
  }
  static TaskEnd stopped() {
    TaskEnd end;
    end.cause = EndCause::kCancelled;
    end.signal = 15;
    return end;
  }
};

TEST_F(Cancel, EndsQueuedTasksAndStopsTheOthers) {
  const auto actions = master.cancel(1, user("alice"));
  EXPECT_TRUE(only<Answer>(actions).at(0).status.ok());
  const auto stops = only<StopTask>(actions);
  ASSERT_EQ(stops.size(), 2u);
  EXPECT_EQ(stops[0].session, monitor);
  EXPECT_EQ(stops[0].allocation, running);
  EXPECT_EQ(stops[1].allocation, starting);
  EXPECT_EQ(master.task(1, 2).state, RunState::kCancelled);
  EXPECT_EQ(master.stateOf(1), RunState::kRunning);

  master.ended(monitor, running, stopped());
  master.ended(monitor, starting, stopped());
  EXPECT_EQ(master.stateOf(1), RunState::kCancelled);
  EXPECT_EQ(master.job(1).progress.reason, "cancelled by alice");
  EXPECT_EQ(master.freeUnits("a"), 4u);
}

TEST_F(Cancel, EndsAJobThatWaitsAtOnce) {
  master.commit(agent, newJob(2, spec(2)));
  const auto actions = master.cancel(2, user("alice"));
  EXPECT_EQ(master.stateOf(2), RunState::kCancelled);
  EXPECT_TRUE(only<AssignJob>(actions).at(0).assignment.over);
  EXPECT_TRUE(only<JobChanged>(actions).at(0).finished);
}

TEST_F(Cancel, WritesNoRecordOfTasksThatWereNeverPlaced) {
  Commit commit = newJob(2, spec(100));
  commit.claims = {claim(0, 0)};
  const AllocationId allocation = master.place(agent, commit);
  master.cancel(2, user("alice"));
  EXPECT_EQ(master.task(2, 99).state, RunState::kCancelled);
  master.restart();
  EXPECT_EQ(master.task(2, 99).state, RunState::kCancelled);
  EXPECT_EQ(master.task(2, 1).state, RunState::kCancelled);
  master.ended(master.attachMonitor("m", {serverFacts("a", 4)}), allocation, stopped());
  EXPECT_EQ(master.stateOf(2), RunState::kCancelled);
  EXPECT_EQ(master.task(2, 99).end.ended, master.job(2).progress.finished);
}

TEST_F(Cancel, StandsAfterARestart) {
  master.cancel(1, user("alice"));
  master.restart();
  EXPECT_TRUE(master.job(1).progress.cancelRequested);
  EXPECT_TRUE(master.task(1, 0).stopping);
}

TEST_F(Cancel, LeavesATaskThatSucceededDone) {
  master.cancel(1, user("alice"));
  master.ended(monitor, running, exitedWith(0));
  EXPECT_EQ(master.task(1, 0).state, RunState::kDone);
}

TEST_F(Cancel, StartsNothingAgain) {
  JobSpec retried = spec();
  retried.restart.attempts = 5;
  Commit commit = newJob(2, retried);
  commit.claims = {claim(0, 0)};
  const AllocationId allocation = master.place(agent, commit);
  master.cancel(2, user("alice"));
  master.ended(monitor, allocation, exitedWith(1));
  EXPECT_EQ(master.stateOf(2), RunState::kCancelled);
}

TEST_F(Cancel, TakesNoMoreCommitsForTheJob) {
  master.cancel(1, user("alice"));
  EXPECT_EQ(master.commit(agent, moreFor(1)).outcome, CommitAnswer::Outcome::kJobOver);
}

TEST_F(Cancel, IsForTheOwnerAndOperators) {
  EXPECT_EQ(codeOf(master.cancel(1, user("bob"))), ErrorCode::kNotFound);
  EXPECT_EQ(codeOf(master.cancel(9, user("bob"))), ErrorCode::kNotFound);
  EXPECT_FALSE(master.job(1).progress.cancelRequested);
  EXPECT_TRUE(only<Answer>(master.cancel(1, theOperator())).at(0).status.ok());
  EXPECT_TRUE(master.job(1).progress.cancelRequested);
}

TEST_F(Cancel, RepeatedAsksTheMonitorAgain) {
  master.cancel(1, user("alice"));
  EXPECT_EQ(only<StopTask>(master.cancel(1, user("alice"))).size(), 2u);
}

TEST_F(Cancel, OfAFinishedJobChangesNothing) {
  Commit commit = newJob(2, spec());
  commit.claims = {claim(0, 0)};
  master.ended(monitor, master.place(agent, commit), exitedWith(0));
  const auto actions = master.cancel(2, user("alice"));
  EXPECT_TRUE(only<Answer>(actions).at(0).status.ok());
  EXPECT_EQ(only<Audit>(actions).at(0).entry.outcome, audit::kUnchanged);
  EXPECT_EQ(actions.size(), 2u);
  EXPECT_EQ(master.stateOf(2), RunState::kDone);
}

TEST_F(Cancel, OfATaskOnALostServerEndsWithTheTimeout) {
  master.cancel(1, user("alice"));
  master.detach(monitor);
  master.pass(MasterOptions{}.serverTimeout);
  EXPECT_EQ(master.stateOf(1), RunState::kCancelled);
}

}  // namespace tarcil::cancel_test
