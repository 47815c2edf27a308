#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/master/master_harness.h"

namespace tarcil::queue_offers_test {

using namespace std::chrono_literals;
using master::OfferJobs;
using master::PublishQueue;
using testing::ElementsAre;
using testing::IsEmpty;

// Jobs of each priority are a class of their own.
JobSpec ofPriority(uint8_t priority) {
  JobSpec wanted = spec();
  wanted.priority = priority;
  wanted.maxWait = std::chrono::hours(priority);
  return wanted;
}

// A job whose agent looked for slots, and found none.
Commit failAttempt(int number, const JobSpec& wanted) {
  Commit commit = newJob(number, wanted);
  commit.explanation.wanted = wanted.tasks;
  return commit;
}

std::vector<JobId> offers(const std::vector<master::Action>& actions) {
  std::vector<JobId> jobs;
  for (const OfferJobs& action : only<OfferJobs>(actions)) {
    for (const master::JobOffer& offer : action.jobs) jobs.push_back(offer.job);
  }
  return jobs;
}

// One server of one unit, which job 9 of agent "x" holds.
struct Offers : testing::Test {
  Offers() {
    x = h.attachAgent("x");
    monitor = h.attachMonitor("m", {serverFacts("s", 1)});
    Commit commit = newJob(9, spec());
    commit.claims = {claim(0, 0)};
    held = h.place(x, commit);
    h.started(monitor, held);
  }

  std::vector<master::Action> vacate() { return h.ended(monitor, held, exitedWith(0)); }
  std::vector<master::Action> pass(SessionId agent, int job) {
    return h.handle(master::OffersDeclined{agent, {jobId(job)}});
  }

  MasterHarness h;
  SessionId x, monitor;
  AllocationId held;
};

TEST_F(Offers, UnitsThatComeFreeGiveOneToAJobThatWaits) {
  h.commit(x, failAttempt(1, spec()));
  const auto given = only<OfferJobs>(vacate());
  ASSERT_EQ(given.size(), 1u);
  EXPECT_EQ(given[0].session, x);
  EXPECT_THAT(given[0].jobs, ElementsAre(master::JobOffer{jobId(1), 0}));
}

TEST_F(Offers, NobodyGetsOneWhileNothingGetsBetter) {
  h.commit(x, failAttempt(1, spec()));
  EXPECT_THAT(offers(h.pass(1h)), IsEmpty());
}

TEST_F(Offers, NewsOfTheStateComeBeforeThem) {
  h.commit(x, failAttempt(1, spec()));
  const auto actions = vacate();
  const auto at = [&actions](auto is) { return std::ranges::find_if(actions, is) - actions.begin(); };
  EXPECT_LT(at([](const auto& action) { return std::holds_alternative<master::PublishServer>(action); }),
            at([](const auto& action) { return std::holds_alternative<OfferJobs>(action); }));
}

TEST_F(Offers, AreInOneOrderForAllAgents) {
  const SessionId y = h.attachAgent("y");
  h.commit(x, failAttempt(1, ofPriority(10)));
  h.commit(y, failAttempt(2, ofPriority(30)));
  h.commit(x, failAttempt(3, ofPriority(20)));
  EXPECT_THAT(offers(vacate()), ElementsAre(jobId(2)));
  EXPECT_THAT(offers(pass(y, 2)), ElementsAre(jobId(3)));
  EXPECT_THAT(offers(pass(x, 3)), ElementsAre(jobId(1)));
}

TEST_F(Offers, WhereMoreWaitAllAreTriedAgainWithoutAMargin) {
  h.handle(master::SettingsSet{77, QualitySettings{}});
  h.commit(x, failAttempt(1, ofPriority(10)));
  EXPECT_FALSE(h.queueTold().crowded);
  h.commit(x, failAttempt(2, ofPriority(20)));
  EXPECT_TRUE(h.queueTold().crowded);
  EXPECT_THAT(offers(h.lastActions()), ElementsAre(jobId(2)));
  EXPECT_THAT(offers(pass(x, 2)), ElementsAre(jobId(1)));
  EXPECT_THAT(offers(pass(x, 1)), IsEmpty());
  h.commit(x, failAttempt(3, ofPriority(30)));
  EXPECT_THAT(offers(h.lastActions()), IsEmpty()) << "it was so before";
  h.cancel(3, theOperator());
  h.cancel(2, theOperator());
  EXPECT_FALSE(h.queueTold().crowded);
}

TEST_F(Offers, TellHowManyJobsAndTasksWaitToTwoDigits) {
  h.handle(master::SettingsSet{77, QualitySettings{}});
  EXPECT_EQ(h.queueTold().waitingTasks, 0u);
  JobSpec three = ofPriority(10);
  three.tasks = 3;
  for (int job = 1; job <= 3; ++job) h.commit(x, failAttempt(job, three));
  EXPECT_EQ(h.queueTold().waiting, 3u);
  EXPECT_EQ(h.queueTold().waitingTasks, 8u) << "of 9";
  three.concurrency = 1;
  h.commit(x, failAttempt(4, three));
  EXPECT_EQ(h.queueTold().waitingTasks, 8u) << "of 10, as a slot more is all that it could use";
  for (int job = 1; job <= 4; ++job) h.cancel(job, theOperator());
  EXPECT_EQ(h.queueTold().waiting, 0u);
  EXPECT_EQ(h.queueTold().waitingTasks, 0u);
}

TEST_F(Offers, WithoutAMarginNothingIsCrowded) {
  for (int job = 1; job <= 3; ++job) h.commit(x, failAttempt(job, ofPriority(10)));
  EXPECT_FALSE(h.queueTold().crowded);
}

TEST_F(Offers, ACommitForTheJobEndsItsOffer) {
  h.commit(x, failAttempt(1, ofPriority(20)));
  h.commit(x, failAttempt(2, ofPriority(10)));
  vacate();
  Commit commit = moreFor(1);
  commit.claims = {claim(0, 0)};
  h.place(x, commit);
  EXPECT_THAT(offers(pass(x, 2)), IsEmpty());  // that was its offer
  EXPECT_EQ(h.stateOf(1), RunState::kStarting);
}

TEST_F(Offers, AnotherAgentCannotEndThem) {
  const SessionId y = h.attachAgent("y");
  h.commit(x, failAttempt(1, ofPriority(20)));
  h.commit(x, failAttempt(2, ofPriority(10)));
  vacate();
  EXPECT_THAT(offers(pass(y, 1)), IsEmpty());
  EXPECT_THAT(offers(pass(x, 1)), ElementsAre(jobId(2)));
}

TEST_F(Offers, AnAgentThatDoesNotAnswerHoldsNobodyUp) {
  const SessionId y = h.attachAgent("y");
  h.commit(x, failAttempt(1, ofPriority(20)));
  h.commit(x, failAttempt(2, ofPriority(15)));
  h.commit(y, failAttempt(3, ofPriority(10)));
  vacate();
  EXPECT_THAT(offers(h.pass(1s)), ElementsAre(jobId(3))) << "nor do its other jobs";
  pass(y, 3);
  EXPECT_THAT(offers(pass(x, 1)), ElementsAre(jobId(2))) << "it has said something";
}

// Every agent slower than the timeout would leave free units to nobody for ever, if a late answer counted.
TEST_F(Offers, AnAnswerToAnOldOfferSaysNothingOfTheCapacityThatAppearedSince) {
  h.commit(x, failAttempt(1, spec()));
  EXPECT_THAT(offers(vacate()), ElementsAre(jobId(1)));
  h.pass(1s);
  h.handle(master::SettingsSet{77, {}});
  EXPECT_THAT(offers(pass(x, 1)), ElementsAre(jobId(1)));
}

TEST_F(Offers, AJobWhoseAgentDidNotAnswerGetsOneWhenItDoes) {
  h.commit(x, failAttempt(1, spec()));
  h.commit(x, failAttempt(2, ofPriority(10)));
  vacate();
  h.pass(1s);
  EXPECT_THAT(offers(pass(x, 7)), ElementsAre(jobId(1))) << "it has said something, though not of this job";
}

TEST_F(Offers, AnAgentThatGoesHoldsNobodyUpAndGetsThemWhenItIsBack) {
  const SessionId y = h.attachAgent("y");
  h.commit(y, failAttempt(1, ofPriority(20)));
  h.commit(x, failAttempt(2, ofPriority(10)));
  vacate();
  EXPECT_THAT(offers(h.detach(y)), ElementsAre(jobId(2)));
  pass(x, 2);
  h.attachAgent("y", 1);
  EXPECT_THAT(offers(h.lastActions()), ElementsAre(jobId(1)));
}

TEST_F(Offers, AnAgentThatIsBackBeforeItWasMissedGetsThem) {
  h.commit(x, failAttempt(1, ofPriority(20)));
  EXPECT_THAT(offers(vacate()), ElementsAre(jobId(1)));
  h.attachAgent("x", 1);  // that its first link has ended is noticed later
  EXPECT_THAT(offers(h.lastActions()), ElementsAre(jobId(1)));
}

TEST_F(Offers, AJobThatWasSubmittedUntriedGetsOne) {
  EXPECT_EQ(h.commit(x, newJob(1, spec())).outcome, CommitAnswer::Outcome::kOk);
  EXPECT_THAT(offers(h.lastActions()), ElementsAre(jobId(1)));
}

TEST_F(Offers, ATaskThatIsQueuedAgainGetsOne) {
  JobSpec restarting = spec();
  restarting.restart.attempts = 1;
  Commit commit = newJob(1, restarting);
  const SessionId other = h.attachMonitor("n", {serverFacts("t", 1)});
  commit.claims = {claim(0, 1)};
  const AllocationId allocation = h.place(x, commit);
  h.started(other, allocation);
  EXPECT_THAT(offers(h.ended(other, allocation, exitedWith(1))), ElementsAre(jobId(1)));
}

TEST_F(Offers, AServerThatTakesTasksAgainGivesThem) {
  h.steer("s", master::ServerChange::kCordon);
  vacate();
  h.commit(x, failAttempt(1, spec()));
  EXPECT_THAT(offers(h.steer("s", master::ServerChange::kUncordon)), ElementsAre(jobId(1)));
}

TEST_F(Offers, OtherSettingsGiveThem) {
  h.commit(x, failAttempt(1, spec()));
  EXPECT_THAT(offers(h.handle(master::SettingsSet{1'000, {}})), ElementsAre(jobId(1)));
}

TEST_F(Offers, AJobThatWasTriedOnAnOlderStateGetsOne) {
  Commit commit = failAttempt(1, spec());  // which crosses the end of the task that holds the unit
  vacate();
  commit.sequence = 2;
  commit.capacityVersion = 0;
  h.resend(x, commit);
  EXPECT_THAT(offers(h.lastActions()), ElementsAre(jobId(1)));
}

// They are after the same slots.
TEST_F(Offers, OthersOfItsClassRestWhereAJobFoundNothing) {
  for (int job = 11; job <= 50; ++job) h.commit(x, failAttempt(job, spec()));
  JobSpec wide = spec(1, 2);
  h.commit(x, failAttempt(60, wide));
  EXPECT_THAT(offers(vacate()), testing::SizeIs(32));
  std::vector<JobId> next;
  for (int job = 11; job < 11 + 32; ++job) {
    for (const JobId& given : offers(pass(x, job))) next.push_back(given);
  }
  EXPECT_THAT(next, ElementsAre(jobId(60)));
}

// The slots of refused claims were hidden from the agent's other jobs.
TEST_F(Offers, RefusedClaimsGiveThem) {
  h.commit(x, failAttempt(1, spec()));
  Commit commit = failAttempt(2, spec());
  commit.claims = {claim(0, 0)};
  h.commit(x, commit);
  EXPECT_THAT(offers(h.lastActions()), ElementsAre(jobId(1)));
}

TEST_F(Offers, ClaimsForAJobThatIsOverGiveThem) {
  h.commit(x, failAttempt(1, spec()));
  h.commit(x, failAttempt(2, spec()));
  h.cancel(2, user("alice"));
  Commit commit = moreFor(2);
  commit.claims = {claim(0, 0)};
  ASSERT_EQ(h.commit(x, commit).outcome, CommitAnswer::Outcome::kJobOver);
  EXPECT_THAT(offers(h.lastActions()), ElementsAre(jobId(1)));
}

TEST_F(Offers, AgentsAreToldWhatIsPendingWhenItChanges) {
  EXPECT_THAT(only<PublishQueue>((h.commit(x, failAttempt(1, ofPriority(20))), h.lastActions())), IsEmpty());
  const auto begun = only<PublishQueue>(vacate());
  ASSERT_EQ(begun.size(), 1u);
  EXPECT_EQ(begun[0].pendingPriority, 20);
  const auto ended = only<PublishQueue>(pass(x, 1));
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].pendingPriority, std::nullopt);
}

TEST_F(Offers, AJobThatIsCancelledHasNoneAnyMore) {
  h.commit(x, failAttempt(1, ofPriority(20)));
  h.commit(x, failAttempt(2, ofPriority(10)));
  vacate();
  EXPECT_THAT(offers(h.cancel(1, user("alice"))), ElementsAre(jobId(2)));
}

TEST(HungAgents, AnAgentThatHangsHoldsNobodyUp) {
  MasterHarness h;
  const SessionId hanging = h.attachAgent("x"), other = h.attachAgent("y");
  const SessionId monitor = h.attachMonitor("m", {serverFacts("s", 4)});
  (void)monitor;
  for (int job = 1; job <= 1000; ++job) h.commit(hanging, newJob(job, spec()));
  h.handle(master::OffersDeclined{hanging, {}});
  h.commit(other, newJob(1001, spec()));
  int timers = 0;
  const auto isOffered = [&](const std::vector<master::Action>& actions) {
    for (const auto& offers : only<master::OfferJobs>(actions)) {
      if (offers.session == other) return true;
    }
    return false;
  };
  for (; timers < 1000; ++timers) {
    // Four times a second something gets better, e.g. a task ends somewhere.
    if (isOffered(h.handle(master::SettingsSet{uint64_t(5000 + timers), {}}))) break;
    if (isOffered(h.pass(std::chrono::milliseconds(250)))) break;
  }
  EXPECT_LT(timers, 4) << "quarters of a second";
}

TEST(WhatIsAhead, JobsOfAClassThatFoundNothingAreStillAhead) {
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
    for (const auto& offers : only<master::OfferJobs>(actions)) {
      for (const auto& offer : offers.jobs) {
        if (offer.job == jobId(101)) ahead = offer.slotsAhead;
        jobs.push_back(offer.job);
      }
    }
    actions = h.handle(master::OffersDeclined{agent, jobs});
  }
  ASSERT_TRUE(ahead);
  EXPECT_EQ(*ahead, 100u);
  EXPECT_EQ(h.logic().waitingJob(jobId(101), h.now().wall)->slotsAhead, 100u);
}

}  // namespace tarcil::queue_offers_test
