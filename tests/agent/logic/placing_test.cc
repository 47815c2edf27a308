#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/model/constraint.h"
#include "tests/agent/agent_harness.h"

namespace tarcil::placing_test {

using namespace std::chrono_literals;

JobSpec atOnce(uint32_t tasks, uint32_t concurrency) {
  JobSpec spec = aJob(tasks);
  spec.concurrency = concurrency;
  return spec;
}

JobSpec aGang(uint32_t tasks) {
  JobSpec spec = aJob(tasks);
  spec.schedule = Schedule::kGang;
  return spec;
}

TEST(Placing, OneCommitCarriesTheJobItsClaimsAndWhy) {
  AgentHarness h({aServer("a"), aServer("b")});
  h.attach();
  h.submit(aJob(3));
  ASSERT_EQ(h.commits.size(), 1u);
  const Commit& commit = h.commits[0];
  EXPECT_EQ(commit.sequence, 1u);
  EXPECT_EQ(commit.answered, 0u);
  EXPECT_EQ(commit.claims.size(), 3u);
  EXPECT_EQ(commit.explanation.placed, 3u);
  EXPECT_EQ(commit.waitReason, "");
}

TEST(Placing, CommitsNameTheLastAnswerWithoutGaps) {
  AgentHarness h({aServer("a")});
  h.attach();
  h.submit(aJob(1), jobId(1));
  h.submit(aJob(1), jobId(2));
  std::swap(h.commits[0], h.commits[1]);
  h.takeCommit();  // the second is answered first
  h.submit(aJob(1), jobId(3));
  EXPECT_EQ(h.commits[1].answered, 0u);
  h.takeCommits();
  h.submit(aJob(1), jobId(4));
  EXPECT_EQ(h.commits[0].sequence, 4u);
  EXPECT_EQ(h.commits[0].answered, 3u);
}

TEST(Placing, ClaimsInFlightAreNotClaimedAgain) {
  AgentHarness h({aServer("a").rus(2)});
  h.attach();
  h.submit(aJob(1), jobId(1));
  h.submit(aJob(1), jobId(2));
  EXPECT_EQ(h.agent.load().freeUnits, 0u);
  h.submit(aJob(1), jobId(3));
  EXPECT_TRUE(h.commits[2].claims.empty());
  EXPECT_NE(h.commits[0].claims[0].preferred, h.commits[1].claims[0].preferred);
}

TEST(Placing, RefusedClaimIsSampledAgainAtOnce) {
  AgentHarness h({aServer("a")});
  h.attach();
  auto request = h.submit(aJob(1));
  h.master.refuseClaims(1);
  h.takeCommit();
  EXPECT_EQ(h.answerText(request), "");  // the job is durable, though it has no slot yet
  ASSERT_EQ(h.commits.size(), 1u);
  EXPECT_FALSE(h.commits[0].newJob);
  h.takeCommit();
  EXPECT_EQ(h.launches.size(), 1u);
}

TEST(Placing, AfterSoManyRefusalsTheJobWaitsForAChange) {
  AgentHarness h({aServer("a")}, {.replans = 2});
  h.attach();
  h.submit(aJob(1));
  h.holdOffers();
  h.master.refuseClaims(3);
  h.takeCommits();
  EXPECT_TRUE(h.launches.empty());
  h.pass(5s);
  h.takeCommits();
  EXPECT_TRUE(h.launches.empty());
  EXPECT_EQ(h.master.reason(jobId(1)), "other jobs took the slots found for it first; it is tried again");
  h.master.occupyElsewhere(0, {}, 1);
  h.tellServers();
  h.master.leaveElsewhere(0);
  h.tellServers();
  h.offerJobs();
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 1u);
}

TEST(Placing, OnlyTheRefusedTasksAreSampledAgain) {
  AgentHarness h({aServer("a")});
  h.attach();
  h.submit(aJob(3));
  h.master.refuseClaims(1);
  h.takeCommit();
  EXPECT_EQ(h.launches.size(), 2u);
  ASSERT_EQ(h.commits.size(), 1u);
  EXPECT_EQ(h.commits[0].claims.size(), 1u);
}

TEST(Placing, TaskThatDoesNotWaitIsLeftToTheNewsOfIt) {
  AgentHarness h({aServer("a")});
  h.attach();
  h.submitted(aJob(2));
  h.tell(h.master.requeue(jobId(1), 0, 0s));
  const JobAssignment news = h.master.requeue(jobId(1), 0, 0s);  // still on its way
  h.takeCommits();
  h.pass(1min);
  EXPECT_TRUE(h.commits.empty());
  h.tell(news);
  ASSERT_EQ(h.commits.size(), 1u);
  EXPECT_EQ(h.commits[0].claims.at(0).attempt, 2u);
}

TEST(Placing, JobThatIsOverIsForgottenWithTheNewsOfIt) {
  AgentHarness h({aServer("a")});
  h.attach();
  h.submitted(aJob(1));
  h.tell(h.master.requeue(jobId(1), 0, 0s));
  const JobAssignment news = h.master.cancel(jobId(1));
  h.takeCommits();
  EXPECT_EQ(h.agent.load().jobs, 1u);
  h.tell(news);
  EXPECT_EQ(h.agent.load().jobs, 0u);
}

TEST(Placing, NoMoreTasksAtOnceThanTheJobAllows) {
  AgentHarness h({aServer("a").rus(8)});
  h.attach();
  h.submitted(atOnce(5, 2));
  EXPECT_EQ(h.launches.size(), 2u);
  EXPECT_EQ(h.master.reason(jobId(1)), "");  // its own limit is no reason to wait for the cluster
  h.endTask(jobId(1), 0);
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 3u);
  EXPECT_EQ(h.master.active(jobId(1)), 2u);
}

TEST(Placing, FailedTaskWaitsForItsBackoff) {
  AgentHarness h({aServer("a")});
  h.attach();
  h.submitted(aJob(1));
  h.tell(h.master.requeue(jobId(1), 0, 3s));
  h.tellServers();
  h.pass(2999ms);
  EXPECT_TRUE(h.commits.empty());
  h.pass(1ms);
  ASSERT_EQ(h.commits.size(), 1u);
  EXPECT_EQ(h.commits[0].claims.at(0).attempt, 1u);
}

TEST(Placing, WaitingGangHoldsNothing) {
  AgentHarness h({aServer("a").rus(4).holding({}, 2)});
  h.attach();
  h.submitted(aGang(4));
  EXPECT_TRUE(h.launches.empty());
  EXPECT_EQ(h.agent.load().freeUnits, 2u);
  EXPECT_EQ(h.master.reason(jobId(1)), "waiting for 4 slots at once (gang); 2 are free");
  h.submitted(aJob(2), jobId(2));
  EXPECT_EQ(h.launches.size(), 2u);
}

TEST(Placing, ATaskWhoseServersAreDownHoldsUpNoOther) {
  AgentHarness h({aServer("a").rus(1), aServer("b").rus(2).down()});
  h.attach();
  JobSpec spec = aJob(4);
  spec.placement.requireOfTask = {{0, {onServers({"b"})}}, {1, {onServers({"b"})}}};
  h.submitted(spec);
  ASSERT_EQ(h.launches.size(), 1u) << "the unit of a is for a task that may go there";
  EXPECT_EQ(h.launches[0].spec.task, 2u);
  h.endTask(jobId(1), 2);
  h.takeCommits();
  h.endTask(jobId(1), 3);
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 2u);
  EXPECT_EQ(
      h.master.reason(jobId(1)),
      "2 tasks wait for servers that they require; task 0 requires server in (b): no server that suits it "
      "takes tasks: 1 is down");
}

TEST(Placing, GangStartsWhenAllItsSlotsAreFree) {
  AgentHarness h({aServer("a").rus(3), aServer("b").rus(2)});
  h.master.occupyElsewhere(0, {}, 3);
  h.attach();
  h.submitted(aGang(4));
  h.master.leaveElsewhere(0);
  h.tellServers();
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 4u);
}

TEST(Placing, TasksOfAGangThatRequireOverlappingServersStartTogether) {
  AgentHarness h({aServer("a").rus(1).background({{Resource::kLlc, 10}}), aServer("b").rus(1)});
  h.master.occupyElsewhere(1, {}, 1);
  h.attach();
  JobSpec spec = aGang(2);
  spec.placement.requireOfTask = {{0, {onServers({"a", "b"})}}, {1, {onServers({"b"})}}};
  h.submitted(spec);
  EXPECT_TRUE(h.launches.empty());
  EXPECT_EQ(h.master.reason(jobId(1)), "waiting for 2 slots at once (gang); 1 are free");
  h.master.leaveElsewhere(1);
  h.tellServers();
  std::map<TaskIndex, ServerId> servers;
  for (const Claim& claim : h.commits.back().claims) servers[claim.task] = claim.server;
  EXPECT_EQ(servers, (std::map<TaskIndex, ServerId>{{0, 0}, {1, 1}}));
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 2u);
}

TEST(Placing, AGangSaysWhichOfItsTasksFindsNoSlotBesideTheOthers) {
  AgentHarness h({aServer("a").rus(1), aServer("b").rus(2), aServer("c").rus(4)});
  h.master.occupyElsewhere(1, {}, 1);
  h.attach();
  JobSpec spec = aGang(3);
  spec.placement.requireOfTask = {{1, {onServers({"b"})}}, {2, {onServers({"b"})}}};
  h.submitted(spec);
  EXPECT_EQ(h.master.reason(jobId(1)),
            "task 2 requires server in (b): none of the slots there suits it now, or other tasks of the gang "
            "need them");
  EXPECT_TRUE(h.launches.empty());
}

TEST(Placing, LargeJobGoesInSeveralCommits) {
  AgentHarness h(std::vector<ServerBuilder>(100, aServer("a").rus(30)));
  h.attach();
  h.submitted(aJob(3000));
  EXPECT_GE(h.commitsSent, 3u);
  std::set<TaskIndex> launched;
  for (const agent::Launch& launch : h.launches) launched.insert(launch.spec.task);
  EXPECT_EQ(launched.size(), 3000u);
}

}  // namespace tarcil::placing_test
