#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/agent/agent_harness.h"

namespace tarcil::logic_offers_test {

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
    holdOffers();
    master.occupyElsewhere(0, {}, 4);
    attach();
  }
  void makeRoom() {
    master.leaveElsewhere(0);
    tellServer(0);
  }
};

TEST(AgentOffers, AJobThatWaitsIsNotTriedBeforeItIsOffered) {
  Full h;
  h.submitted(aJob(1));
  h.makeRoom();
  EXPECT_THAT(h.commits, IsEmpty());
  h.offerJobs();
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 1u);
}

TEST(AgentOffers, ATurnThatFindsNothingIsPassed) {
  Full h;
  h.submitted(aJob(1));
  h.offerJobs();
  EXPECT_THAT(h.commits, IsEmpty());
  EXPECT_THAT(h.declined, ElementsAre(jobId(1)));
}

TEST(AgentOffers, ATurnThatFindsASlotIsAnsweredByTheCommitAlone) {
  Full h;
  h.submitted(aJob(1));
  h.makeRoom();
  h.offerJobs();
  EXPECT_EQ(h.commits.size(), 1u);
  EXPECT_THAT(h.declined, IsEmpty());
}

TEST(AgentOffers, JobsOfOneMessageAreTriedInItsOrder) {
  AgentHarness h({aServer("a")});
  h.holdOffers();
  h.master.occupyElsewhere(0, {}, 4);
  h.attach();
  for (uint8_t job = 1; job <= 5; ++job) h.submitted(ofPriority(job), jobId(job));
  h.master.leaveElsewhere(0);
  h.tellServer(0);
  h.handle(agent::JobsOffered{{jobId(3), jobId(1), jobId(5), jobId(2), jobId(4)}});
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 4u);
  EXPECT_EQ(h.master.active(jobId(4)), 0u);
  EXPECT_THAT(h.declined, ElementsAre(jobId(4)));
}

TEST(AgentOffers, WhatIsKeptForAGangIsLeftAloneWithoutATurnThatLetsTakeIt) {
  AgentHarness h({aServer("a"), aServer("b")});
  h.holdOffers();
  h.master.occupyElsewhere(1, {}, 4);
  h.attach();
  h.handle(agent::QueueTold{.pendingPriority = 50, .reserved = {0}});
  h.submitted(ofPriority(50), jobId(1));
  h.submitted(ofPriority(50), jobId(2));
  h.handle(agent::JobsOffered{.jobs = {jobId(1)}, .usableReserved = {{jobId(1), {}}}});
  h.takeCommits();
  EXPECT_TRUE(h.launches.empty());
  EXPECT_THAT(h.declined, ElementsAre(jobId(1)));
  h.handle(agent::JobsOffered{.jobs = {jobId(2)}});
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 1u);
  h.submitted(ofPriority(60), jobId(3));
  EXPECT_EQ(h.launches.size(), 2u) << "it comes before all that wait";
  h.handle(agent::QueueTold{});
  h.submitted(ofPriority(50), jobId(4));
  EXPECT_EQ(h.launches.size(), 3u) << "nothing is reserved any more";
}

TEST(AgentOffers, OfWhatIsKeptAJobTakesWhatItsTurnNames) {
  AgentHarness h({aServer("a"), aServer("b")});
  h.holdOffers();
  h.attach();
  h.handle(agent::QueueTold{.pendingPriority = 50, .reserved = {0, 1}});
  h.submitted(ofPriority(50), jobId(1));
  h.handle(agent::JobsOffered{.jobs = {jobId(1)}, .usableReserved = {{jobId(1), {1}}}});
  h.takeCommits();
  ASSERT_EQ(h.launches.size(), 1u);
  EXPECT_EQ(h.launches[0].spec.server, "b");
}

// A server on which the job would feel 20 where it tolerates 24: good enough, but not by the margin of 10.
struct TightFit : AgentHarness {
  static constexpr auto kLlc = static_cast<size_t>(Resource::kLlc);

  TightFit() : AgentHarness({aServer("a")}) {
    holdOffers();
    Profile neighbour;
    neighbour.caused[kLlc] = 20;
    master.occupyElsewhere(0, neighbour, 1);
    attach();
    rankByQuality();
    spec.profile.tolerated[kLlc] = 24;
    spec.maxWait = 1h;
    submitted(spec);
    EXPECT_THAT(launches, IsEmpty());
  }

  JobSpec spec = aJob(1);
};

TEST(AgentOffers, WhoDoesNotSayHowLongItMayWaitDoesNotWaitForTheMargin) {
  TightFit h;
  h.spec.maxWait.reset();
  h.submit(h.spec, jobId(2));
  ASSERT_EQ(h.commits.size(), 1u);
  EXPECT_EQ(h.commits[0].claims.size(), 1u);
  EXPECT_EQ(h.commits[0].judging.margin, 0);
}

TEST(AgentOffers, TheMarginLapsesWhileTheClusterIsCrowded) {
  TightFit h;
  h.offerJobs();
  EXPECT_THAT(h.commits, IsEmpty());
  h.handle(agent::QueueTold{.crowded = true});
  h.offerJobs();
  ASSERT_EQ(h.commits.size(), 1u);
  EXPECT_EQ(h.commits[0].judging.margin, 0);
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 1u);
}

TEST(AgentOffers, TheMarginHoldsAgainOnceItIsNotCrowded) {
  TightFit h;
  h.handle(agent::QueueTold{.crowded = true});
  h.handle(agent::QueueTold{.crowded = false});
  h.offerJobs();
  EXPECT_THAT(h.commits, IsEmpty());
}

TEST(AgentOffers, TheMarginDoesNotKeepAJobFromItsReservation) {
  TightFit h;
  h.handle(agent::QueueTold{.pendingPriority = 50, .reserved = {0}});
  h.offerJobs();
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 1u);
}

TEST(AgentOffers, TheTurnOfAJobThatIsNotKnownIsPassed) {
  Full h;
  h.handle(agent::JobsOffered{{jobId(7)}});
  EXPECT_THAT(h.untried, ElementsAre(jobId(7)));
}

TEST(AgentOffers, TheTurnOfAJobWhoseCommitIsUnderWayComesAfterTheAnswer) {
  Full h;
  h.submit(aJob(1));  // finds nothing, and its commit is under way
  h.makeRoom();
  h.handle(agent::JobsOffered{{jobId(1)}});
  EXPECT_EQ(h.commits.size(), 1u);
  h.takeCommit();
  ASSERT_EQ(h.commits.size(), 1u);
  EXPECT_EQ(h.commits[0].claims.size(), 1u);
}

TEST(AgentOffers, TheTurnOfAJobThatHasNothingToPlaceIsPassed) {
  AgentHarness h({aServer("a")});
  h.attach();
  JobSpec spec = aJob(1);
  h.submitted(spec);
  h.holdOffers();
  h.tell(h.master.requeue(jobId(1), 0, 10s));
  h.handle(agent::JobsOffered{{jobId(1)}});
  EXPECT_THAT(h.untried, ElementsAre(jobId(1)));
  EXPECT_THAT(h.declined, IsEmpty());
  EXPECT_EQ(h.launches.size(), 1u);
}

TEST(AgentOffers, ADelayThatEndsNeedsNone) {
  AgentHarness h({aServer("a")});
  h.attach();
  h.submitted(aJob(1));
  h.holdOffers();
  h.tell(h.master.requeue(jobId(1), 0, 10s));
  h.pass(11s);
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 2u);
}

TEST(AgentOffers, ADelayThatEndsNeedsOneWhileOthersAreToBeTried) {
  AgentHarness h({aServer("a")});
  h.attach();
  h.submitted(aJob(1));
  h.holdOffers();
  h.tell(h.master.requeue(jobId(1), 0, 10s));
  h.tellPending(50);
  h.pass(11s);
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 1u);
  h.tellPending(std::nullopt);
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 2u);
}

TEST(AgentOffers, ANewJobIsSubmittedUntriedBehindThoseThatAreToBeTried) {
  AgentHarness h({aServer("a")});
  h.holdOffers();
  h.attach();
  h.tellPending(50);
  const auto request = h.submit(ofPriority(50));
  ASSERT_EQ(h.commits.size(), 1u);
  EXPECT_TRUE(h.commits[0].newJob);
  EXPECT_THAT(h.commits[0].claims, IsEmpty());
  EXPECT_EQ(h.commits[0].explanation.wanted, 0u);  // by which the master knows
  h.takeCommits();
  EXPECT_EQ(h.answerText(request), "");
  EXPECT_EQ(h.master.reason(jobId(1)), "jobs that have waited longer are tried first");
  h.offerJobs();
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 1u);
}

TEST(AgentOffers, ANewJobOfAHigherPriorityIsTriedAtOnce) {
  AgentHarness h({aServer("a")});
  h.holdOffers();
  h.attach();
  h.tellPending(50);
  h.submitted(ofPriority(51));
  EXPECT_EQ(h.launches.size(), 1u);
}

TEST(AgentOffers, NewJobsAreTriedAtOnceWhenNobodyIsToBeTriedAnyMore) {
  AgentHarness h({aServer("a")});
  h.holdOffers();
  h.attach();
  h.tellPending(50);
  h.tellPending(std::nullopt);
  h.submitted(ofPriority(1));
  EXPECT_EQ(h.launches.size(), 1u);
}

TEST(AgentOffers, WaitForASnapshotThatIsOnItsWay) {
  Full h;
  h.submitted(aJob(1));
  h.attachOnly(1);
  h.handle(agent::JobsOffered{{jobId(1)}});
  EXPECT_THAT(h.declined, IsEmpty());
  h.feedSnapshot();
  EXPECT_THAT(h.declined, ElementsAre(jobId(1)));
}

TEST(AgentOffers, WhatIsSaidLaterCountsAsDecidedOnTheStateThatItWasDecidedOn) {
  AgentHarness h({aServer("a")});
  h.holdOffers();
  h.master.occupyElsewhere(0, {}, 4);
  h.attach();
  h.handle(agent::QueueTold{.capacityVersion = 1});
  JobSpec two = aJob(1);
  two.rusPerTask = 2;
  h.submitted(two);  // "no free unit"
  h.master.leaveElsewhere(0);
  h.master.occupyElsewhere(0, {}, 3);
  h.tellServer(0);
  h.handle(agent::QueueTold{.capacityVersion = 2});
  h.offerJobs();  // fails for another reason, whose report waits for its second
  ASSERT_THAT(h.commits, IsEmpty());
  ASSERT_THAT(h.declined, ElementsAre(jobId(1)));
  h.handle(agent::QueueTold{.capacityVersion = 3});  // capacity appeared; it is to be offered
  h.pass(2s);
  ASSERT_EQ(h.commits.size(), 1u);
  EXPECT_GT(h.commits[0].explanation.wanted, 0u);
  EXPECT_EQ(h.commits[0].capacityVersion, 2u) << "nobody looked for slots since";
}

TEST(AgentOffers, ABoundThatWasToldEndsWithTheWaitThatItWasToldFor) {
  AgentHarness h({aServer("a").rus(2).background({{Resource::kLlc, 60}})});
  h.holdOffers();
  h.master.occupyElsewhere(0, {}, 1);
  h.attach();
  h.rankByQuality();
  JobSpec two = aJob(2, causingAndTolerating({}, {{Resource::kLlc, 10}}));
  h.submitted(two);
  ASSERT_EQ(h.launches.size(), 0u);
  h.handle(agent::JobsOffered{.jobs = {jobId(1)}, .bounds = {{jobId(1), 0s}}});
  h.takeCommits();
  ASSERT_EQ(h.launches.size(), 1u) << "no good place is to be expected: the best there is";
  h.pass(1h);
  h.declined.clear();
  h.master.leaveElsewhere(0);
  h.tellServer(0);
  h.handle(agent::JobsOffered{.jobs = {jobId(1)}, .bounds = {{jobId(1), 10min}}});
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 1u) << "for the other task the wait begins anew, and may last ten minutes";
}

}  // namespace tarcil::logic_offers_test
