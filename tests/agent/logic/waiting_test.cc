#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/agent/agent_harness.h"

namespace tarcil::waiting_test {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr Resource kLlc = Resource::kLlc;

JobSpec urgent(uint8_t priority) {
  JobSpec spec = aJob(1);
  spec.priority = priority;
  return spec;
}

// One server of four units, all taken by others.
struct FullCluster : AgentHarness {
  FullCluster() : AgentHarness({aServer("a")}) {
    master.occupyElsewhere(0, {}, 4);
    attach();
  }
};

TEST(Waiting, JobWithoutASlotIsAcceptedAndSaysWhyItWaits) {
  FullCluster h;
  auto request = h.submit(aJob(1));
  h.takeCommits();
  EXPECT_EQ(h.answerText(request), "");
  EXPECT_EQ(h.master.reason(jobId(1)), "no free unit: 4 of 4 are taken");
  EXPECT_EQ(h.agent.load().waiting, 1u);
}

TEST(Waiting, StartsWhenUnitsComeFree) {
  FullCluster h;
  h.submitted(aJob(2));
  h.master.leaveElsewhere(0);
  h.tellServer(0);
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 2u);
  EXPECT_EQ(h.master.reason(jobId(1)), "");
  EXPECT_EQ(h.agent.load().waiting, 0u);
}

TEST(Waiting, IsToldOncePerTaskForItsFirstSlot) {
  FullCluster h;
  h.submitted(aJob(2));
  EXPECT_TRUE(h.waits.empty());
  h.pass(7s);
  h.master.leaveElsewhere(0);
  h.tellServer(0);
  h.takeCommits();
  ASSERT_EQ(h.waits.size(), 1u);
  EXPECT_EQ(h.waits[0].tasks, 2u);
  EXPECT_EQ(h.waits[0].waited, 7s);
}

TEST(Waiting, CountsDecisionsForWhichSlotsWereDrawn) {
  FullCluster h;
  h.submitted(aJob(2));
  EXPECT_EQ(h.agent.load().decisions, 0u);
  h.master.leaveElsewhere(0);
  h.tellServer(0);
  EXPECT_EQ(h.agent.load().decisions, 1u);
}

TEST(Waiting, IncrementalJobStartsAsSlotsCome) {
  AgentHarness h({aServer("a").holding({}, 2)});
  h.attach();
  h.submitted(aJob(3));
  EXPECT_EQ(h.launches.size(), 2u);
  EXPECT_EQ(h.master.reason(jobId(1)), "no free unit: 4 of 4 are taken");
  h.endTask(jobId(1), 1);
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 3u);
}

TEST(Waiting, NamesTheContendedResource) {
  AgentHarness h({aServer("a").holding(causing({{kLlc, 80}}))});
  h.attach();
  h.submitted(aJob(1, tolerating({{kLlc, 10}})));
  EXPECT_TRUE(h.launches.empty());
  EXPECT_THAT(h.master.reason(jobId(1)),
              HasSubstr("slots sampled suit it: llc is too contended on the rest"));
}

TEST(Waiting, StartsWhenContentionFalls) {
  AgentHarness h({aServer("a")});
  h.master.occupyElsewhere(0, causing({{kLlc, 80}}), 1);
  h.attach();
  h.submitted(aJob(1, tolerating({{kLlc, 10}})));
  h.master.leaveElsewhere(0);
  h.tellServer(0);
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 1u);
}

TEST(Waiting, StartsWhenAQuietNeighbourReplacesALoudOne) {
  AgentHarness h({aServer("a")});
  h.master.occupyElsewhere(0, causingAndTolerating({{kLlc, 80}}, {}), 1);
  h.attach();
  h.submitted(aJob(1, tolerating({{kLlc, 10}})));
  h.master.leaveElsewhere(0);
  h.master.occupyElsewhere(0, {}, 1);
  h.tellServer(0);
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 1u);
}

TEST(Waiting, TakesTheBestThereIsAtItsBound) {
  AgentHarness h({aServer("a").holding(causingAndTolerating({{kLlc, 80}}, {}))}, {.waitBound = 30s});
  h.attach();
  h.submitted(aJob(1, tolerating({{kLlc, 10}})));
  h.pass(29s);
  h.takeCommits();
  EXPECT_TRUE(h.launches.empty());
  h.pass(1s);
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 1u);
}

TEST(Waiting, BoundCountsFromTheLastSlotItGot) {
  const auto loud = aServer("loud").holding(causingAndTolerating({{kLlc, 80}}, {}));
  AgentHarness h({aServer("quiet").rus(1), loud}, {.waitBound = 30s});
  h.attach();
  h.submitted(aJob(3, tolerating({{kLlc, 10}})));
  h.pass(20s);
  h.endTask(jobId(1), 0);
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 2u);
  h.pass(29s);
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 2u);
  h.pass(1s);
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 3u);
}

TEST(Waiting, BoundCountsAnewForATaskThatFailed) {
  AgentHarness h({aServer("a")}, {.waitBound = 30s});
  h.attach();
  h.submitted(aJob(1, tolerating({{kLlc, 10}})));
  h.pass(40s);
  h.master.occupyElsewhere(0, causingAndTolerating({{kLlc, 80}}, {}), 1);
  h.tellServer(0);
  h.tell(h.master.requeue(jobId(1), 0, 0s));
  h.pass(29s);
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 1u);
  h.pass(1s);
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 2u);
}

// 600 jobs reach their bound at one time: what is said of them does not stand before what comes next.
TEST(Waiting, JobsWhoseWaitIsOverAtOnceAreTriedFewAtATime) {
  AgentHarness h({aServer("a").rus(1)}, {.waitBound = 30s});
  h.holdOffers();
  h.master.occupyElsewhere(0, causing({{kLlc, 80}}), 1);
  h.attach();
  constexpr int kJobs = 600;
  for (int job = 0; job < kJobs; ++job) {
    JobId id = jobId(static_cast<uint8_t>(job));
    id.bytes[0] = static_cast<uint8_t>(job >> 8);
    h.submitted(aJob(1), id);
  }
  h.takeCommits();
  h.pass(31s);
  EXPECT_LE(h.commits.size(), 256u);
  h.takeCommits();
  EXPECT_EQ(h.commits.size(), 0u) << "the others follow as these are answered";
}

TEST(Waiting, IsNotTriedWhileNothingChanges) {
  AgentHarness h({aServer("a").holding(causing({{kLlc, 80}}))}, {.waitBound = 1h});
  h.attach();
  h.rankByQuality();
  h.submitted(aJob(1, tolerating({{kLlc, 10}})));
  const size_t sent = h.commitsSent;
  h.tellServer(0);
  h.pass(30min);
  EXPECT_EQ(h.commitsSent, sent);
}

TEST(Waiting, IsPlacedByTheProfileThatTheMasterToldLast) {
  AgentHarness h({aServer("a").holding(causingAndTolerating({{kLlc, 80}}, {}))}, {.waitBound = 1h});
  h.attach();
  h.submitted(aJob(1, tolerating({{kLlc, 10}})));
  ASSERT_TRUE(h.launches.empty());
  JobAssignment news = h.master.unfinishedJobs().at(0);
  news.job.spec.profile = tolerating({{kLlc, 95}});
  h.tell(news);
  h.offerJobs();
  h.takeCommits();
  ASSERT_EQ(h.launches.size(), 1u);
  EXPECT_EQ(h.launches[0].spec.tolerated[static_cast<size_t>(kLlc)], 95);
}

TEST(Waiting, RunsInTheImageThatTheMasterTellsAnotherTaskFound) {
  AgentHarness h({aServer("a").holding(causingAndTolerating({{kLlc, 80}}, {}))}, {.waitBound = 1h});
  h.attach();
  JobSpec spec = aJob(1, tolerating({{kLlc, 10}}));
  spec.container.image = "docker://debian";
  h.submitted(spec);
  ASSERT_TRUE(h.launches.empty());
  JobAssignment news = h.master.unfinishedJobs().at(0);
  news.job.spec.container.imageDigest = "sha256:1";
  news.job.spec.profile = tolerating({{kLlc, 95}});  // so that it is placed
  h.tell(news);
  h.offerJobs();
  h.takeCommits();
  ASSERT_EQ(h.launches.size(), 1u);
  EXPECT_EQ(h.launches[0].spec.container.imageDigest, "sha256:1");
}

TEST(Waiting, HigherPriorityStartsFirst) {
  FullCluster h;
  h.submitted(urgent(10), jobId(1));
  h.submitted(urgent(90), jobId(2));
  h.submitted(urgent(50), jobId(3));
  h.master.leaveElsewhere(0);
  h.tellServer(0);
  ASSERT_EQ(h.commits.size(), 3u);
  EXPECT_EQ(h.commits[0].job, jobId(2));
}

TEST(Waiting, OlderStartsFirstAtTheSamePriority) {
  FullCluster h;
  h.submitted(aJob(4), jobId(9));
  h.pass(1ms);
  h.submitted(aJob(4), jobId(1));
  h.master.leaveElsewhere(0);
  h.tellServer(0);
  h.takeCommits();
  EXPECT_EQ(h.master.active(jobId(9)), 4u);
  EXPECT_EQ(h.master.active(jobId(1)), 0u);
}

TEST(Waiting, JobThatFindsNoSlotDoesNotBlockThoseBehindIt) {
  AgentHarness h({aServer("a").rus(4), aServer("b").rus(8).holding({}, 8)});
  h.master.occupyElsewhere(0, {}, 3);
  h.attach();
  JobSpec large = urgent(90);
  large.rusPerTask = 8;
  h.submitted(large, jobId(1));
  h.submitted(aJob(3), jobId(2));
  EXPECT_EQ(h.master.active(jobId(2)), 1u);
  h.master.leaveElsewhere(0);
  h.tellServer(0);
  h.takeCommits();
  EXPECT_EQ(h.master.active(jobId(2)), 3u);
  EXPECT_EQ(h.master.active(jobId(1)), 0u);
}

TEST(Waiting, ManyJobsAreTriedInSeveralSteps) {
  AgentHarness h({aServer("a").rus(200)});
  h.master.occupyElsewhere(0, {}, 200);
  h.attach();
  for (uint8_t job = 1; job <= 200; ++job) h.submitted(aJob(1), jobId(job));
  h.master.leaveElsewhere(0);
  h.tellServer(0);
  EXPECT_LT(h.commits.size(), 200u);  // one event costs a bounded amount of work
  h.pass(0s);
  EXPECT_EQ(h.commits.size(), 200u);
}

TEST(Waiting, SaysANewReasonAtMostOnceASecond) {
  AgentHarness h({aServer("a").rus(2)}, {.waitBound = 1h});
  h.master.occupyElsewhere(0, causing({{kLlc, 80}}), 2);
  h.attach();
  h.submitted(aJob(1, tolerating({{kLlc, 10}})));
  EXPECT_THAT(h.master.reason(jobId(1)), HasSubstr("no free unit"));
  h.master.leaveElsewhere(0);
  h.master.occupyElsewhere(0, causing({{kLlc, 70}}), 1);
  h.tellServer(0);
  EXPECT_TRUE(h.commits.empty());
  h.pass(1s);
  ASSERT_EQ(h.commits.size(), 1u);
  EXPECT_TRUE(h.commits[0].claims.empty());
  h.takeCommits();
  EXPECT_THAT(h.master.reason(jobId(1)), HasSubstr("llc is too contended"));
}

TEST(Waiting, NewSettingsCountInTheNextAttempt) {
  AgentHarness h({aServer("a").holding(causing({{kLlc, 80}}))});
  h.attach();
  h.submitted(aJob(1, tolerating({{kLlc, 10}})));
  QualitySettings lax;
  lax.target = 0.1;
  h.handle(agent::SettingsUpdated{lax});
  h.offerJobs();
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 1u);
}

}  // namespace tarcil::waiting_test
