#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/agent/agent_harness.h"

namespace tarcil::submitting_test {

using namespace std::chrono_literals;
using testing::HasSubstr;

JobSpec runningAs(const std::string& user) {
  JobSpec spec = aJob(1);
  spec.user = user;
  return spec;
}

TEST(Submitting, ClientIsAnsweredOnlyWhenTheJobIsDurable) {
  AgentHarness h({aServer("a")});
  h.attach();
  auto request = h.submit(aJob(1));
  EXPECT_EQ(h.answerText(request), "none");
  ASSERT_EQ(h.commits.size(), 1u);
  ASSERT_TRUE(h.commits[0].newJob);
  EXPECT_EQ(h.commits[0].newJob->record.user, "alice");
  EXPECT_EQ(h.commits[0].claims.size(), 1u);
  h.takeCommit();
  EXPECT_EQ(h.answerText(request), "");
  EXPECT_EQ(h.launches.size(), 1u);
}

TEST(Submitting, WaitsForTheSnapshot) {
  AgentHarness h({aServer("a")});
  auto request = h.submit(aJob(1));
  h.attachOnly();
  EXPECT_TRUE(h.commits.empty());
  h.feedSnapshot();
  h.takeCommits();
  EXPECT_EQ(h.answerText(request), "");
}

TEST(Submitting, RefusedWhenTheMasterStaysAway) {
  AgentHarness h({aServer("a")});
  h.attach();
  h.loseMaster();
  auto request = h.submit(aJob(1));
  h.pass(9s);
  EXPECT_EQ(h.answerText(request), "none");
  h.pass(1s);
  ASSERT_TRUE(h.answer(request));
  EXPECT_EQ(h.answer(request)->error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(h.answerText(request), HasSubstr("the master is out of reach"));
  h.attach();
  EXPECT_TRUE(h.commits.empty());
}

TEST(Submitting, ClientIsToldWhereTheMasterStaysAwayWithTheCommitAndTheJobIsKept) {
  AgentHarness h({aServer("a")});
  h.attach();
  const auto request = h.submit(aJob(1));
  ASSERT_EQ(h.commits.size(), 1u);
  h.loseMaster();
  h.pass(9s);
  EXPECT_EQ(h.answerText(request), "none");
  h.pass(1s);
  EXPECT_THAT(h.answerText(request), HasSubstr("has not said whether it has the job"));
  EXPECT_EQ(h.answer(request)->error().code, ErrorCode::kUnavailable);

  const auto repeat = h.submit(aJob(1));
  h.attach();
  h.takeCommits();
  EXPECT_EQ(h.answerText(repeat), "");
  EXPECT_EQ(h.launches.size(), 1u);
}

TEST(Submitting, RepeatFindsTheJob) {
  AgentHarness h({aServer("a")});
  h.attach();
  h.submitted(aJob(1));
  auto repeat = h.submit(aJob(1));
  EXPECT_EQ(h.answerText(repeat), "");
  EXPECT_TRUE(h.commits.empty());
  EXPECT_EQ(h.launches.size(), 1u);
}

TEST(Submitting, RepeatWhileTheFirstIsOnItsWaySharesItsAnswer) {
  AgentHarness h({aServer("a")});
  h.attach();
  auto first = h.submit(aJob(1));
  auto repeat = h.submit(aJob(1));
  EXPECT_EQ(h.commits.size(), 1u);
  EXPECT_EQ(h.answerText(repeat), "none");
  h.takeCommits();
  EXPECT_EQ(h.answerText(first), "");
  EXPECT_EQ(h.answerText(repeat), "");
}

TEST(Submitting, RepeatOfACancelledJobDoesNotBringItBack) {
  AgentHarness h({aServer("a")});
  h.attach();
  h.submitted(aJob(1));
  h.tell(h.master.requeue(jobId(1), 0, Duration(0)));
  h.tell(h.master.cancel(jobId(1)));  // while a commit of the job is in flight
  auto repeat = h.submit(aJob(1));
  EXPECT_EQ(h.answerText(repeat), "");
  EXPECT_EQ(h.commits.size(), 1u);
  h.takeCommits();
  EXPECT_EQ(h.agent.load().jobs, 0u);
}

TEST(Submitting, JobThatAnotherAgentHasIsAnsweredAndLeftAlone) {
  AgentHarness h({aServer("a")});
  h.master.handOver({.id = jobId(1), .spec = aJob(1), .user = "alice", .runAs = "alice"}, {TaskAssignment{}});
  h.handle(agent::MasterAttached{1, {}});
  h.feedSnapshot();
  auto request = h.submit(aJob(1));
  h.takeCommits();
  EXPECT_EQ(h.answerText(request), "");
  EXPECT_TRUE(h.launches.empty());
  EXPECT_EQ(h.agent.load().jobs, 0u);
  EXPECT_EQ(h.agent.load().freeUnits, 4u);
}

TEST(Submitting, IdOfAnotherUsersJobIsDenied) {
  AgentHarness h({aServer("a")});
  h.attach();
  h.submitted(aJob(1));
  auto request = h.submit(aJob(1), jobId(1), {.user = "bob", .role = Role::kSubmit, .runAs = {"bob"}});
  ASSERT_TRUE(h.answer(request));
  EXPECT_EQ(h.answer(request)->error().code, ErrorCode::kDenied);
}

TEST(Submitting, RunsAsTheSubmittersDefaultUnlessToldOtherwise) {
  AgentHarness h({aServer("a")});
  h.attach();
  h.submitted(aJob(1), jobId(1));
  h.submitted(runningAs("batch"), jobId(2));
  ASSERT_EQ(h.launches.size(), 2u);
  EXPECT_EQ(h.launches[0].spec.user, "alice");
  EXPECT_EQ(h.launches[1].spec.user, "batch");
}

TEST(Submitting, RunningAsAnyoneElseIsDeniedAndNamesWhoIsAllowed) {
  AgentHarness h({aServer("a")});
  h.attach();
  auto request = h.submit(runningAs("root"));
  ASSERT_TRUE(h.answer(request));
  EXPECT_EQ(h.answer(request)->error().code, ErrorCode::kDenied);
  EXPECT_THAT(h.answerText(request), HasSubstr("only as alice, batch"));
  EXPECT_TRUE(h.commits.empty());
}

TEST(Submitting, WhoMayRunAsNobodyIsDenied) {
  AgentHarness h({aServer("a")});
  h.attach();
  auto request = h.submit(aJob(1), jobId(1), {.user = "alice", .role = Role::kSubmit, .runAs = {}});
  ASSERT_TRUE(h.answer(request));
  EXPECT_EQ(h.answer(request)->error().code, ErrorCode::kDenied);
}

TEST(Submitting, TokensOfMonitorsDoNotSubmit) {
  AgentHarness h({aServer("a")});
  h.attach();
  auto request = h.submit(aJob(1), jobId(1), {.user = "m", .role = Role::kMonitor, .runAs = {"m"}});
  ASSERT_TRUE(h.answer(request));
  EXPECT_EQ(h.answer(request)->error().code, ErrorCode::kDenied);
}

TEST(Submitting, JobLargerThanTheClusterIsRefusedAndNothingCommitted) {
  AgentHarness h({aServer("a").rus(4)});
  h.attach();
  JobSpec spec = aJob(1);
  spec.rusPerTask = 5;
  auto request = h.submit(spec);
  ASSERT_TRUE(h.answer(request));
  EXPECT_EQ(h.answer(request)->error().code, ErrorCode::kInvalid);
  EXPECT_TRUE(h.commits.empty());
  EXPECT_EQ(h.agent.load().jobs, 0u);
}

TEST(Submitting, WaitingJobsOfOneUserAreBounded) {
  AgentHarness h({aServer("a").holding({}, 4)}, {.maxWaitingJobs = 2});
  h.attach();
  h.submitted(aJob(1), jobId(1));
  h.submitted(aJob(1), jobId(2));
  auto beyond = h.submit(aJob(1), jobId(3));
  ASSERT_TRUE(h.answer(beyond));
  EXPECT_EQ(h.answer(beyond)->error().code, ErrorCode::kExhausted);
  EXPECT_THAT(h.answerText(beyond), HasSubstr("try again"));
  auto other = h.submit(aJob(1), jobId(4), {.user = "bob", .role = Role::kSubmit, .runAs = {"bob"}});
  h.takeCommits();
  EXPECT_EQ(h.answerText(other), "");
}

// Of all users together.
TEST(Submitting, WhatWaitsForTheMasterIsBounded) {
  AgentHarness h({aServer("a")}, {.maxWaitingJobs = 2});
  auto first = h.submit(aJob(1), jobId(1));
  auto second = h.submit(aJob(1), jobId(2));
  auto beyond = h.submit(aJob(1), jobId(3), {.user = "bob", .role = Role::kSubmit, .runAs = {"bob"}});
  ASSERT_TRUE(h.answer(beyond));
  EXPECT_EQ(h.answer(beyond)->error().code, ErrorCode::kExhausted);
  EXPECT_THAT(h.answerText(beyond), HasSubstr("too many submissions wait for the master"));
  h.attach();
  h.takeCommits();
  EXPECT_EQ(h.answerText(first), "");
  EXPECT_EQ(h.answerText(second), "");
}

TEST(Submitting, MasterRefusalReachesTheClientAndLeavesNothing) {
  AgentHarness h({aServer("a")});
  h.attach();
  auto request = h.submit(aJob(1));
  h.master.refuseCommit("the disk is full");
  h.takeCommits();
  EXPECT_EQ(h.answerText(request), "the disk is full");
  EXPECT_EQ(h.agent.load().jobs, 0u);
  EXPECT_EQ(h.agent.load().freeUnits, 4u);
}

TEST(Submitting, OfOneJobTooManyIsToBeTriedLater) {
  AgentHarness h({aServer("a")});
  h.attach();
  auto request = h.submit(aJob(1));
  h.master.refuseCommit("too many jobs", CommitAnswer::Outcome::kBusy);
  h.takeCommits();
  EXPECT_EQ(h.answer(request)->error(), (Error{ErrorCode::kExhausted, "too many jobs"}));
  EXPECT_EQ(h.agent.load().jobs, 0u);
  EXPECT_EQ(h.agent.load().freeUnits, 4u);
}

}  // namespace tarcil::submitting_test
