#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/master/master_harness.h"

namespace tarcil::queue_turns_test {

using namespace std::chrono_literals;
using master::GiveTurns;
using master::PublishQueue;
using testing::ElementsAre;
using testing::IsEmpty;

// Each priority is of a kind of its own.
JobSpec ofPriority(uint8_t priority) {
  JobSpec wanted = spec();
  wanted.priority = priority;
  wanted.maxWait = std::chrono::hours(priority);
  return wanted;
}

// A job whose agent looked for slots, and found none.
Commit triedInVain(int number, const JobSpec& wanted) {
  Commit commit = newJob(number, wanted);
  commit.explanation.wanted = wanted.tasks;
  return commit;
}

std::vector<JobId> turns(const std::vector<master::Action>& actions) {
  std::vector<JobId> jobs;
  for (const GiveTurns& action : only<GiveTurns>(actions)) {
    for (const master::QueueTurn& turn : action.jobs) jobs.push_back(turn.job);
  }
  return jobs;
}

// One server of one unit, which job 9 of agent "x" holds.
struct Turns : testing::Test {
  Turns() {
    x = h.attachAgent("x");
    monitor = h.attachMonitor("m", {serverFacts("s", 1)});
    Commit commit = newJob(9, spec());
    commit.claims = {claim(0, 0)};
    held = h.place(x, commit);
    h.started(monitor, held);
  }

  std::vector<master::Action> vacate() { return h.ended(monitor, held, exitedWith(0)); }
  std::vector<master::Action> pass(SessionId agent, int job) {
    return h.handle(master::TurnsPassed{agent, {jobId(job)}});
  }

  MasterHarness h;
  SessionId x, monitor;
  AllocationId held;
};

TEST_F(Turns, UnitsThatComeFreeGiveOneToAJobThatWaits) {
  h.commit(x, triedInVain(1, spec()));
  const auto given = only<GiveTurns>(vacate());
  ASSERT_EQ(given.size(), 1u);
  EXPECT_EQ(given[0].session, x);
  EXPECT_THAT(given[0].jobs, ElementsAre(master::QueueTurn{jobId(1), 0}));
}

TEST_F(Turns, NobodyGetsOneWhileNothingGetsBetter) {
  h.commit(x, triedInVain(1, spec()));
  EXPECT_THAT(turns(h.pass(1h)), IsEmpty());
}

TEST_F(Turns, NewsOfTheStateComeBeforeThem) {
  h.commit(x, triedInVain(1, spec()));
  const auto actions = vacate();
  const auto at = [&actions](auto is) { return std::ranges::find_if(actions, is) - actions.begin(); };
  EXPECT_LT(at([](const auto& action) { return std::holds_alternative<master::PublishServer>(action); }),
            at([](const auto& action) { return std::holds_alternative<GiveTurns>(action); }));
}

TEST_F(Turns, AreInOneOrderForAllAgents) {
  const SessionId y = h.attachAgent("y");
  h.commit(x, triedInVain(1, ofPriority(10)));
  h.commit(y, triedInVain(2, ofPriority(30)));
  h.commit(x, triedInVain(3, ofPriority(20)));
  EXPECT_THAT(turns(vacate()), ElementsAre(jobId(2)));
  EXPECT_THAT(turns(pass(y, 2)), ElementsAre(jobId(3)));
  EXPECT_THAT(turns(pass(x, 3)), ElementsAre(jobId(1)));
}

TEST_F(Turns, WhereMoreWaitAllAreTriedAgainWithoutAMargin) {
  h.handle(master::SettingsSet{77, QualitySettings{}});
  h.commit(x, triedInVain(1, ofPriority(10)));
  EXPECT_FALSE(h.queueTold().crowded);
  h.commit(x, triedInVain(2, ofPriority(20)));
  EXPECT_TRUE(h.queueTold().crowded);
  EXPECT_THAT(turns(h.lastActions()), ElementsAre(jobId(2)));
  EXPECT_THAT(turns(pass(x, 2)), ElementsAre(jobId(1)));
  EXPECT_THAT(turns(pass(x, 1)), IsEmpty());
  h.commit(x, triedInVain(3, ofPriority(30)));
  EXPECT_THAT(turns(h.lastActions()), IsEmpty()) << "it was so before";
  h.cancel(3, theOperator());
  h.cancel(2, theOperator());
  EXPECT_FALSE(h.queueTold().crowded);
}

TEST_F(Turns, WithoutAMarginNothingIsCrowded) {
  for (int job = 1; job <= 3; ++job) h.commit(x, triedInVain(job, ofPriority(10)));
  EXPECT_FALSE(h.queueTold().crowded);
}

TEST_F(Turns, ACommitForTheJobEndsItsTurn) {
  h.commit(x, triedInVain(1, ofPriority(20)));
  h.commit(x, triedInVain(2, ofPriority(10)));
  vacate();
  Commit commit = moreFor(1);
  commit.claims = {claim(0, 0)};
  h.place(x, commit);
  EXPECT_THAT(turns(pass(x, 2)), IsEmpty());  // that was its turn
  EXPECT_EQ(h.stateOf(1), RunState::kStarting);
}

TEST_F(Turns, AnotherAgentCannotEndThem) {
  const SessionId y = h.attachAgent("y");
  h.commit(x, triedInVain(1, ofPriority(20)));
  h.commit(x, triedInVain(2, ofPriority(10)));
  vacate();
  EXPECT_THAT(turns(pass(y, 1)), IsEmpty());
  EXPECT_THAT(turns(pass(x, 1)), ElementsAre(jobId(2)));
}

TEST_F(Turns, AnAgentThatDoesNotAnswerHoldsNobodyUp) {
  const SessionId y = h.attachAgent("y");
  h.commit(x, triedInVain(1, ofPriority(20)));
  h.commit(x, triedInVain(2, ofPriority(15)));
  h.commit(y, triedInVain(3, ofPriority(10)));
  vacate();
  EXPECT_THAT(turns(h.pass(1s)), ElementsAre(jobId(3))) << "nor do its other jobs";
  pass(y, 3);
  EXPECT_THAT(turns(pass(x, 1)), ElementsAre(jobId(2))) << "it has said something";
}

TEST_F(Turns, AnAgentThatGoesHoldsNobodyUpAndGetsThemWhenItIsBack) {
  const SessionId y = h.attachAgent("y");
  h.commit(y, triedInVain(1, ofPriority(20)));
  h.commit(x, triedInVain(2, ofPriority(10)));
  vacate();
  EXPECT_THAT(turns(h.detach(y)), ElementsAre(jobId(2)));
  pass(x, 2);
  h.attachAgent("y", 1);
  EXPECT_THAT(turns(h.lastActions()), ElementsAre(jobId(1)));
}

TEST_F(Turns, AnAgentThatIsBackBeforeItWasMissedGetsThem) {
  h.commit(x, triedInVain(1, ofPriority(20)));
  EXPECT_THAT(turns(vacate()), ElementsAre(jobId(1)));
  h.attachAgent("x", 1);  // that its first link has ended is noticed later
  EXPECT_THAT(turns(h.lastActions()), ElementsAre(jobId(1)));
}

TEST_F(Turns, AJobThatWasHandedInUntriedGetsOne) {
  EXPECT_EQ(h.commit(x, newJob(1, spec())).outcome, CommitAnswer::Outcome::kOk);
  EXPECT_THAT(turns(h.lastActions()), ElementsAre(jobId(1)));
}

TEST_F(Turns, ATaskThatIsQueuedAgainGetsOne) {
  JobSpec restarting = spec();
  restarting.restart.attempts = 1;
  Commit commit = newJob(1, restarting);
  const SessionId other = h.attachMonitor("n", {serverFacts("t", 1)});
  commit.claims = {claim(0, 1)};
  const AllocationId allocation = h.place(x, commit);
  h.started(other, allocation);
  EXPECT_THAT(turns(h.ended(other, allocation, exitedWith(1))), ElementsAre(jobId(1)));
}

TEST_F(Turns, AServerThatTakesTasksAgainGivesThem) {
  h.steer("s", master::ServerChange::kCordon);
  vacate();
  h.commit(x, triedInVain(1, spec()));
  EXPECT_THAT(turns(h.steer("s", master::ServerChange::kUncordon)), ElementsAre(jobId(1)));
}

TEST_F(Turns, OtherSettingsGiveThem) {
  h.commit(x, triedInVain(1, spec()));
  EXPECT_THAT(turns(h.handle(master::SettingsSet{1'000, {}})), ElementsAre(jobId(1)));
}

TEST_F(Turns, AJobThatWasTriedOnAnOlderStateGetsOne) {
  Commit commit = triedInVain(1, spec());  // which crosses the end of the task that holds the unit
  vacate();
  commit.sequence = 2;
  commit.wakesSeen = 0;
  h.resend(x, commit);
  EXPECT_THAT(turns(h.lastActions()), ElementsAre(jobId(1)));
}

// They are after the same slots.
TEST_F(Turns, OthersOfItsKindRestWhereAJobFoundNothing) {
  for (int job = 11; job <= 50; ++job) h.commit(x, triedInVain(job, spec()));
  JobSpec wide = spec(1, 2);
  h.commit(x, triedInVain(60, wide));
  EXPECT_THAT(turns(vacate()), testing::SizeIs(32));
  std::vector<JobId> next;
  for (int job = 11; job < 11 + 32; ++job) {
    for (const JobId& given : turns(pass(x, job))) next.push_back(given);
  }
  EXPECT_THAT(next, ElementsAre(jobId(60)));
}

// What was claimed in vain was hidden from the agent's other jobs.
TEST_F(Turns, RefusedClaimsGiveThem) {
  h.commit(x, triedInVain(1, spec()));
  Commit commit = triedInVain(2, spec());
  commit.claims = {claim(0, 0)};
  h.commit(x, commit);
  EXPECT_THAT(turns(h.lastActions()), ElementsAre(jobId(1)));
}

TEST_F(Turns, AgentsAreToldWhatIsPendingWhenItChanges) {
  EXPECT_THAT(only<PublishQueue>((h.commit(x, triedInVain(1, ofPriority(20))), h.lastActions())), IsEmpty());
  const auto begun = only<PublishQueue>(vacate());
  ASSERT_EQ(begun.size(), 1u);
  EXPECT_EQ(begun[0].pendingPriority, 20);
  const auto ended = only<PublishQueue>(pass(x, 1));
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].pendingPriority, std::nullopt);
}

TEST_F(Turns, AJobThatIsCancelledHasNoneAnyMore) {
  h.commit(x, triedInVain(1, ofPriority(20)));
  h.commit(x, triedInVain(2, ofPriority(10)));
  vacate();
  EXPECT_THAT(turns(h.cancel(1, user("alice"))), ElementsAre(jobId(2)));
}

TEST(HungAgents, AnAgentThatHangsHoldsNobodyUp) {
  MasterHarness h;
  const SessionId hanging = h.attachAgent("x"), other = h.attachAgent("y");
  const SessionId monitor = h.attachMonitor("m", {serverFacts("s", 4)});
  (void)monitor;
  for (int job = 1; job <= 1000; ++job) h.commit(hanging, newJob(job, spec()));
  h.handle(master::TurnsPassed{hanging, {}});
  h.commit(other, newJob(1001, spec()));
  int timers = 0;
  const auto hasTurn = [&](const std::vector<master::Action>& actions) {
    for (const auto& turns : only<master::GiveTurns>(actions)) {
      if (turns.session == other) return true;
    }
    return false;
  };
  for (; timers < 1000; ++timers) {
    // Four times a second something gets better, e.g. a task ends somewhere.
    if (hasTurn(h.handle(master::SettingsSet{uint64_t(5000 + timers), {}}))) break;
    if (hasTurn(h.pass(std::chrono::milliseconds(250)))) break;
  }
  EXPECT_LT(timers, 4) << "quarters of a second";
}

TEST(WhatIsAhead, JobsOfAKindThatFoundNothingAreStillAhead) {
  MasterHarness h;
  const SessionId agent = h.attachAgent("x");
  h.attachMonitor("m", {serverFacts("s", 4)});
  JobSpec demanding = spec();
  demanding.profile.tolerated.fill(1);
  for (int job = 1; job <= 100; ++job) {
    Commit commit = newJob(job, demanding);
    commit.explanation.wanted = 1;
    h.commit(agent, commit);
  }
  Commit last = newJob(101, spec());
  last.explanation.wanted = 1;
  h.commit(agent, last);
  h.pass(10s);
  auto actions = h.handle(master::SettingsSet{9'999, {}});
  std::optional<uint64_t> ahead;
  for (int i = 0; i < 10 && !ahead; ++i) {
    std::vector<JobId> jobs;
    for (const auto& turns : only<master::GiveTurns>(actions)) {
      for (const auto& turn : turns.jobs) {
        if (turn.job == jobId(101)) ahead = turn.slotsAhead;
        jobs.push_back(turn.job);
      }
    }
    actions = h.handle(master::TurnsPassed{agent, jobs});
  }
  ASSERT_TRUE(ahead);
  EXPECT_EQ(*ahead, 100u);
  EXPECT_EQ(h.logic().waitingJob(jobId(101), h.now().wall)->slotsAhead, 100u);
}

}  // namespace tarcil::queue_turns_test
