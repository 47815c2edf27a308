#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/agent/agent_harness.h"

namespace tarcil::logic_turns_test {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

JobSpec ofPriority(uint8_t priority) {
  JobSpec spec = aJob(1);
  spec.priority = priority;
  return spec;
}

// One server of four units, all taken by others, and a master that gives turns only when told to.
struct Full : AgentHarness {
  Full() : AgentHarness({aServer("a")}) {
    holdTurns();
    master.occupyElsewhere(0, {}, 4);
    attach();
  }
  void makeRoom() {
    master.leaveElsewhere(0);
    tellServer(0);
  }
};

TEST(AgentTurns, AJobThatWaitsIsNotTriedBeforeItsTurn) {
  Full h;
  h.submitted(aJob(1));
  h.makeRoom();
  EXPECT_THAT(h.commits, IsEmpty());
  h.giveTurns();
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 1u);
}

TEST(AgentTurns, ATurnThatFindsNothingIsPassed) {
  Full h;
  h.submitted(aJob(1));
  h.giveTurns();
  EXPECT_THAT(h.commits, IsEmpty());
  EXPECT_THAT(h.passed, ElementsAre(jobId(1)));
}

TEST(AgentTurns, ATurnThatFindsASlotIsAnsweredByTheCommitAlone) {
  Full h;
  h.submitted(aJob(1));
  h.makeRoom();
  h.giveTurns();
  EXPECT_EQ(h.commits.size(), 1u);
  EXPECT_THAT(h.passed, IsEmpty());
}

TEST(AgentTurns, JobsOfOneMessageAreTriedInItsOrder) {
  AgentHarness h({aServer("a")});
  h.holdTurns();
  h.master.occupyElsewhere(0, {}, 4);
  h.attach();
  for (uint8_t job = 1; job <= 5; ++job) h.submitted(ofPriority(job), jobId(job));
  h.master.leaveElsewhere(0);
  h.tellServer(0);
  h.handle(agent::TurnsGiven{{jobId(3), jobId(1), jobId(5), jobId(2), jobId(4)}});
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 4u);
  EXPECT_EQ(h.master.active(jobId(4)), 0u);
  EXPECT_THAT(h.passed, ElementsAre(jobId(4)));
}

TEST(AgentTurns, WhatIsKeptForAGangIsLeftAloneWithoutATurnThatLetsTakeIt) {
  AgentHarness h({aServer("a"), aServer("b")});
  h.holdTurns();
  h.master.occupyElsewhere(1, {}, 4);
  h.attach();
  h.handle(agent::QueueTold{.pendingPriority = 50, .kept = {0}});
  h.submitted(ofPriority(50), jobId(1));
  h.submitted(ofPriority(50), jobId(2));
  h.handle(agent::TurnsGiven{.jobs = {jobId(1)}, .leaveKept = {{jobId(1), {}}}});
  h.takeCommits();
  EXPECT_TRUE(h.launches.empty());
  EXPECT_THAT(h.passed, ElementsAre(jobId(1)));
  h.handle(agent::TurnsGiven{.jobs = {jobId(2)}});
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 1u);
  h.submitted(ofPriority(60), jobId(3));
  EXPECT_EQ(h.launches.size(), 2u) << "it comes before all that wait";
  h.handle(agent::QueueTold{});
  h.submitted(ofPriority(50), jobId(4));
  EXPECT_EQ(h.launches.size(), 3u) << "nothing is kept any more";
}

TEST(AgentTurns, OfWhatIsKeptAJobTakesWhatItsTurnNames) {
  AgentHarness h({aServer("a"), aServer("b")});
  h.holdTurns();
  h.attach();
  h.handle(agent::QueueTold{.pendingPriority = 50, .kept = {0, 1}});
  h.submitted(ofPriority(50), jobId(1));
  h.handle(agent::TurnsGiven{.jobs = {jobId(1)}, .leaveKept = {{jobId(1), {1}}}});
  h.takeCommits();
  ASSERT_EQ(h.launches.size(), 1u);
  EXPECT_EQ(h.launches[0].spec.server, "b");
}

// A server on which the job would feel 20 where it tolerates 24: good enough, but not by the margin of 10.
struct TightFit : AgentHarness {
  static constexpr auto kLlc = static_cast<size_t>(Resource::kLlc);

  TightFit() : AgentHarness({aServer("a")}) {
    holdTurns();
    Profile neighbour;
    neighbour.caused[kLlc] = 20;
    master.occupyElsewhere(0, neighbour, 1);
    attach();
    spec.profile.tolerated[kLlc] = 24;
    spec.maxWait = 1h;
    submitted(spec);
    EXPECT_THAT(launches, IsEmpty());
  }

  JobSpec spec = aJob(1);
};

TEST(AgentTurns, WhoDoesNotSayHowLongItMayWaitDoesNotWaitForTheMargin) {
  TightFit h;
  h.spec.maxWait.reset();
  h.submit(h.spec, jobId(2));
  ASSERT_EQ(h.commits.size(), 1u);
  EXPECT_EQ(h.commits[0].claims.size(), 1u);
  EXPECT_EQ(h.commits[0].judging.margin, 0);
}

TEST(AgentTurns, TheMarginLapsesWhileTheClusterIsCrowded) {
  TightFit h;
  h.giveTurns();
  EXPECT_THAT(h.commits, IsEmpty());
  h.handle(agent::QueueTold{.crowded = true});
  h.giveTurns();
  ASSERT_EQ(h.commits.size(), 1u);
  EXPECT_EQ(h.commits[0].judging.margin, 0);
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 1u);
}

TEST(AgentTurns, TheMarginHoldsAgainOnceItIsNotCrowded) {
  TightFit h;
  h.handle(agent::QueueTold{.crowded = true});
  h.handle(agent::QueueTold{.crowded = false});
  h.giveTurns();
  EXPECT_THAT(h.commits, IsEmpty());
}

TEST(AgentTurns, TheMarginDoesNotKeepAJobFromWhatIsKeptForIt) {
  TightFit h;
  h.handle(agent::QueueTold{.pendingPriority = 50, .kept = {0}});
  h.giveTurns();
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 1u);
}

TEST(AgentTurns, TheTurnOfAJobThatIsNotKnownIsPassed) {
  Full h;
  h.handle(agent::TurnsGiven{{jobId(7)}});
  EXPECT_THAT(h.untried, ElementsAre(jobId(7)));
}

TEST(AgentTurns, TheTurnOfAJobWhoseCommitIsUnderWayComesAfterTheAnswer) {
  Full h;
  h.submit(aJob(1));  // finds nothing, and its commit is under way
  h.makeRoom();
  h.handle(agent::TurnsGiven{{jobId(1)}});
  EXPECT_EQ(h.commits.size(), 1u);
  h.takeCommit();
  ASSERT_EQ(h.commits.size(), 1u);
  EXPECT_EQ(h.commits[0].claims.size(), 1u);
}

TEST(AgentTurns, TheTurnOfAJobThatHasNothingToPlaceIsPassed) {
  AgentHarness h({aServer("a")});
  h.attach();
  JobSpec spec = aJob(1);
  h.submitted(spec);
  h.holdTurns();
  h.tell(h.master.requeue(jobId(1), 0, 10s));
  h.handle(agent::TurnsGiven{{jobId(1)}});
  EXPECT_THAT(h.untried, ElementsAre(jobId(1)));
  EXPECT_THAT(h.passed, IsEmpty());
  EXPECT_EQ(h.launches.size(), 1u);
}

TEST(AgentTurns, ADelayThatEndsNeedsNone) {
  AgentHarness h({aServer("a")});
  h.attach();
  h.submitted(aJob(1));
  h.holdTurns();
  h.tell(h.master.requeue(jobId(1), 0, 10s));
  h.pass(11s);
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 2u);
}

TEST(AgentTurns, ADelayThatEndsNeedsOneWhileOthersAreToBeTried) {
  AgentHarness h({aServer("a")});
  h.attach();
  h.submitted(aJob(1));
  h.holdTurns();
  h.tell(h.master.requeue(jobId(1), 0, 10s));
  h.tellPending(50);
  h.pass(11s);
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 1u);
  h.tellPending(std::nullopt);
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 2u);
}

TEST(AgentTurns, ANewJobIsHandedInUntriedBehindThoseThatAreToBeTried) {
  AgentHarness h({aServer("a")});
  h.holdTurns();
  h.attach();
  h.tellPending(50);
  const auto request = h.submit(ofPriority(50));
  ASSERT_EQ(h.commits.size(), 1u);
  EXPECT_TRUE(h.commits[0].newJob);
  EXPECT_THAT(h.commits[0].claims, IsEmpty());
  EXPECT_EQ(h.commits[0].explanation.wanted, 0u);  // by which the master knows
  h.takeCommits();
  EXPECT_EQ(h.answerText(request), "");
  EXPECT_EQ(h.master.reason(jobId(1)), "jobs that waited before are tried first");
  h.giveTurns();
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 1u);
}

TEST(AgentTurns, ANewJobOfAHigherPriorityIsTriedAtOnce) {
  AgentHarness h({aServer("a")});
  h.holdTurns();
  h.attach();
  h.tellPending(50);
  h.submitted(ofPriority(51));
  EXPECT_EQ(h.launches.size(), 1u);
}

TEST(AgentTurns, NewJobsAreTriedAtOnceWhenNobodyIsToBeTriedAnyMore) {
  AgentHarness h({aServer("a")});
  h.holdTurns();
  h.attach();
  h.tellPending(50);
  h.tellPending(std::nullopt);
  h.submitted(ofPriority(1));
  EXPECT_EQ(h.launches.size(), 1u);
}

TEST(AgentTurns, WaitForASnapshotThatIsOnItsWay) {
  Full h;
  h.submitted(aJob(1));
  h.attachOnly(1);
  h.handle(agent::TurnsGiven{{jobId(1)}});
  EXPECT_THAT(h.passed, IsEmpty());
  h.feedSnapshot();
  EXPECT_THAT(h.passed, ElementsAre(jobId(1)));
}

TEST(AgentTurns, WhatIsSaidLaterCountsAsDecidedOnTheStateThatItWasDecidedOn) {
  AgentHarness h({aServer("a")});
  h.holdTurns();
  h.master.occupyElsewhere(0, {}, 4);
  h.attach();
  h.handle(agent::QueueTold{.wakes = 1});
  JobSpec two = aJob(1);
  two.rusPerTask = 2;
  h.submitted(two);  // "no free unit"
  h.master.leaveElsewhere(0);
  h.master.occupyElsewhere(0, {}, 3);
  h.tellServer(0);
  h.handle(agent::QueueTold{.wakes = 2});
  h.giveTurns();  // in vain for another reason, which waits for its second
  ASSERT_THAT(h.commits, IsEmpty());
  ASSERT_THAT(h.passed, ElementsAre(jobId(1)));
  h.handle(agent::QueueTold{.wakes = 3});  // something got better; its turn is to come
  h.pass(2s);
  ASSERT_EQ(h.commits.size(), 1u);
  EXPECT_GT(h.commits[0].explanation.wanted, 0u);
  EXPECT_EQ(h.commits[0].wakesSeen, 2u) << "nobody looked for slots since";
}

TEST(AgentTurns, ABoundThatWasToldEndsWithTheWaitThatItWasToldFor) {
  AgentHarness h({aServer("a").rus(2).background({{Resource::kLlc, 60}})});
  h.holdTurns();
  h.master.occupyElsewhere(0, {}, 1);
  h.attach();
  JobSpec two = aJob(2, causingAndTolerating({}, {{Resource::kLlc, 10}}));
  h.submitted(two);
  ASSERT_EQ(h.launches.size(), 0u);
  h.handle(agent::TurnsGiven{.jobs = {jobId(1)}, .bounds = {{jobId(1), 0s}}});
  h.takeCommits();
  ASSERT_EQ(h.launches.size(), 1u) << "no good place is to be expected: the best there is";
  h.pass(1h);
  h.passed.clear();
  h.master.leaveElsewhere(0);
  h.tellServer(0);
  h.handle(agent::TurnsGiven{.jobs = {jobId(1)}, .bounds = {{jobId(1), 10min}}});
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 1u) << "for the other task the wait begins anew, and may last ten minutes";
}

}  // namespace tarcil::logic_turns_test
