#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/model/constraint.h"
#include "tests/agent/agent_harness.h"

namespace tarcil::attaching_test {

using namespace std::chrono_literals;

TEST(Attaching, SameEpochSendsCommitsInFlightAgainAsTheyWere) {
  AgentHarness h({aServer("a")});
  h.attach();
  auto first = h.submit(aJob(1), jobId(1));
  auto second = h.submit(aJob(2), jobId(2));
  const std::deque<Commit> sent = h.commits;
  h.loseCommits();
  h.loseMaster();
  h.attach();
  EXPECT_EQ(h.commits, sent);
  EXPECT_EQ(h.agent.load().freeUnits, 1u);  // what they claim counts as taken on the new snapshot, too
  h.takeCommits();
  EXPECT_EQ(h.answerText(first), "");
  EXPECT_EQ(h.answerText(second), "");
  EXPECT_EQ(h.launches.size(), 3u);
  EXPECT_EQ(h.agent.load().freeUnits, 1u);
}

TEST(Attaching, CommitThatWasTakenBeforeTheLinkBrokeStartsItsTasksOnce) {
  AgentHarness h({aServer("a")});
  h.attach();
  auto request = h.submit(aJob(2));
  h.master.take(h.commits[0]);  // the answer is lost
  h.loseCommits();
  h.loseMaster();
  h.attach();
  EXPECT_EQ(h.answerText(request), "");  // the master's list of jobs says that it is durable
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 2u);
  EXPECT_EQ(h.commitsSent, 2u);
  EXPECT_EQ(h.agent.load().freeUnits, 2u);
}

TEST(Attaching, NothingIsPlannedBeforeAllJobsAreTold) {
  AgentHarness h({aServer("a")});
  h.attach();
  h.submitted(aJob(1), jobId(1));
  h.submitted(aJob(1), jobId(2));
  h.tell(h.master.requeue(jobId(1), 0, 0s));
  h.loseCommits();
  h.loseMaster();
  std::vector<JobAssignment> jobs = h.master.unfinishedJobs();
  ASSERT_EQ(jobs.size(), 2u);
  const JobAssignment last = jobs.back();
  jobs.pop_back();
  h.handle(agent::MasterAttached{2, jobs, true});
  h.feedSnapshot();
  EXPECT_TRUE(h.commits.empty());
  EXPECT_EQ(h.agent.load().jobs, 2u) << "the second is still to be told";
  h.handle(agent::JobsTold{{last}});
  EXPECT_EQ(h.agent.load().jobs, 2u);
  EXPECT_FALSE(h.commits.empty());
}

TEST(Attaching, JobsThatNoMessageListsAreForgotten) {
  AgentHarness h({aServer("a")});
  h.attach();
  for (int job : {1, 2, 3}) h.submitted(aJob(1), jobId(job));
  const std::vector<JobAssignment> jobs = h.master.unfinishedJobs();
  h.loseMaster();
  h.handle(agent::MasterAttached{2, {jobs[0]}, true});
  h.handle(agent::JobsTold{{jobs[2]}});
  h.feedSnapshot();
  EXPECT_EQ(h.agent.load().jobs, 2u);
}

// Else they would be sent under numbers of an epoch in which they were never sent.
TEST(Attaching, CommitsOfAnEarlierEpochAreVoidAlsoWhereTheListWasCutOff) {
  AgentHarness h({aServer("a")});
  h.attach();
  h.submit(aJob(1), jobId(1));
  ASSERT_EQ(h.commits.size(), 1u);
  h.loseCommits();
  h.loseMaster();
  h.handle(agent::MasterAttached{2, {}, true});
  h.loseMaster();
  h.handle(agent::MasterAttached{2, {}});
  EXPECT_TRUE(h.commits.empty()) << "it waits for the snapshot, as any submission does";
  h.feedSnapshot();
  ASSERT_EQ(h.commits.size(), 1u);
  EXPECT_EQ(h.commits[0].sequence, 1u);
}

TEST(Attaching, TasksWithClaimsInFlightAreNotPlannedASecondTime) {
  AgentHarness h({aServer("a")});
  h.attach();
  h.submitted(aJob(1));
  h.tell(h.master.requeue(jobId(1), 0, 0s));
  ASSERT_EQ(h.commits.size(), 1u);
  h.loseCommits();
  h.loseMaster();
  h.attach();  // lists the task as queued
  h.tellServers();
  EXPECT_EQ(h.commits.size(), 1u);
}

TEST(Attaching, SupersededAgentTellsItsClientsNothing) {
  AgentHarness h({aServer("a")});
  h.attach();
  auto request = h.submit(aJob(1));
  CommitAnswer superseded;
  superseded.sequence = h.commits.at(0).sequence;
  superseded.outcome = CommitAnswer::Outcome::kSuperseded;
  h.handle(agent::CommitAnswered{superseded});
  EXPECT_EQ(h.answerText(request), "none");
}

TEST(Attaching, NewEpochMakesUnansweredSubmissionsAnew) {
  AgentHarness h({aServer("a")});
  h.attach(1);
  h.submitted(aJob(1), jobId(1));
  auto request = h.submit(aJob(2), jobId(2));
  h.loseCommits();
  h.loseMaster();
  h.master.startEpoch();
  h.attach(2);
  EXPECT_EQ(h.agent.epoch(), 2u);
  ASSERT_EQ(h.commits.size(), 1u);
  EXPECT_EQ(h.commits[0].sequence, 1u);
  EXPECT_TRUE(h.commits[0].newJob);
  h.takeCommits();
  EXPECT_EQ(h.answerText(request), "");
  EXPECT_EQ(h.agent.load().freeUnits, 1u);
}

// Its commit may have come through; where it has not, the job was taken in by what was known then.
TEST(Attaching, NewEpochRefusesNoSubmissionThatWasAdmittedBefore) {
  AgentHarness h({aServer("a")});
  h.master.facts(0).attributes["zone"] = "b";
  h.attach(1);
  JobSpec zoned = aJob(1);
  zoned.placement.constraints = {*parseConstraint("zone = b")};
  auto request = h.submit(zoned);
  h.loseCommits();
  h.loseMaster();
  h.master.startEpoch();
  h.master.facts(0).attributes.clear();
  h.attach(2);
  ASSERT_EQ(h.commits.size(), 1u);
  EXPECT_TRUE(h.commits[0].newJob);
  h.takeCommits();
  EXPECT_EQ(h.answerText(request), "");
}

TEST(Attaching, ATaskThatWaitsIsNotForgottenWhereItsClaimWasRefusedForThat) {
  AgentHarness h({aServer("a")});
  h.attach();
  h.submit(aJob(1));
  const Commit commit = h.commits.at(0);
  CommitAnswer answer = h.master.take(commit);
  JobAssignment news = h.master.requeue(jobId(1), 0, 10s);
  news.tasks[0].attempt = 0;
  h.tell(news);
  answer.grants[0] = {Verdict::kTaskNotWaiting};
  h.handle(agent::CommitAnswered{answer});
  h.loseCommits();
  h.pass(11s);
  EXPECT_EQ(h.commits.size(), 1u);
}

TEST(Attaching, TasksThatWaitForTheFirstTimeAreToldInRanges) {
  AgentHarness h({aServer("a")});
  h.attach();
  const JobRecord record{.id = jobId(1), .spec = aJob(3), .user = "alice", .runAs = "alice"};
  const TaskAssignment done{.index = 2, .state = RunState::kDone};
  JobAssignment told = h.master.handOver(record, {{.index = 0}, {.index = 1}, done});
  told.tasks = {done};
  told.waiting = {{1, UINT32_MAX}};
  h.tell(told);
  ASSERT_EQ(h.commits.size(), 1u);
  ASSERT_EQ(h.commits[0].claims.size(), 1u);
  EXPECT_EQ(h.commits[0].claims[0].task, 1u);
}

// A job was submitted again while the old one was coming to its end, and the master has forgotten that one.
TEST(Attaching, WhatIsSaidOfAnOldJobDoesNotEndTheNewOneOfTheSameId) {
  AgentHarness h({aServer("a")});
  h.attach();
  auto request = h.submit(aJob(1));
  ASSERT_EQ(h.commits.size(), 1u);
  JobAssignment old{h.commits[0].newJob->record, true, false, {}};
  old.job.submitted -= 1h;
  old.tasks = {{.index = 0, .state = RunState::kStarting, .allocation = 7, .server = 0, .rus = {0}}};
  h.tell(old);
  EXPECT_EQ(h.answerText(request), "") << "the job is there";
  old.over = true;
  old.tasks.clear();
  h.tell(old);
  EXPECT_EQ(h.agent.load().jobs, 1u);
  const size_t launches = h.launches.size();
  h.takeCommits();  // the master takes it for a new one
  EXPECT_EQ(h.launches.size(), launches + 1);
  h.tell(h.master.requeue(jobId(1), 0, 0s));
  h.offerJobs();
  EXPECT_THAT(h.untried, testing::IsEmpty());
  EXPECT_EQ(h.commits.size(), 1u);
}

TEST(Attaching, WhatIsSaidOfTheJobItselfEndsItBeforeItsCommitIsAnswered) {
  AgentHarness h({aServer("a")});
  h.attach();
  h.submit(aJob(1));
  h.tell({h.commits.at(0).newJob->record, true, true, {}});
  EXPECT_EQ(h.agent.load().jobs, 0u);
}

TEST(Attaching, NewEpochLiftsClaimsThatCameToNothing) {
  AgentHarness h({aServer("a")});
  h.attach(1);
  h.submitted(aJob(2));
  h.tell(h.master.requeue(jobId(1), 0, 0s));
  h.loseCommits();
  h.loseMaster();
  h.master.startEpoch();
  h.attach(2);
  ASSERT_EQ(h.commits.size(), 1u);  // the task is planned anew
  EXPECT_EQ(h.commits[0].sequence, 1u);
  h.takeCommits();
  EXPECT_EQ(h.agent.load().freeUnits, h.master.freeUnits());
}

TEST(Attaching, NewEpochAnswersSubmissionsThatTheMasterHas) {
  AgentHarness h({aServer("a")});
  h.attach(1);
  auto request = h.submit(aJob(1));
  h.master.take(h.commits[0]);
  h.loseCommits();
  h.master.startEpoch();
  h.attach(2);
  EXPECT_EQ(h.answerText(request), "");
  EXPECT_TRUE(h.commits.empty());
  EXPECT_EQ(h.launches.size(), 1u);
}

TEST(Attaching, JobsThatTheMasterNoLongerListsAreForgotten) {
  AgentHarness h({aServer("a").holding({}, 4)});
  h.attach();
  h.submitted(aJob(1));
  h.loseMaster();
  h.master.cancel(jobId(1));
  h.attach();
  EXPECT_EQ(h.agent.load().jobs, 0u);
  EXPECT_EQ(h.agent.load().waiting, 0u);
}

TEST(Attaching, JobThatEndedBeforeItsAnswerArrivedIsAnsweredAndForgotten) {
  AgentHarness h({aServer("a")});
  h.attach();
  auto request = h.submit(aJob(1));
  h.master.take(h.commits[0]);
  h.loseCommits();
  h.loseMaster();
  h.master.cancel(jobId(1));
  h.attach();
  h.takeCommits();
  EXPECT_EQ(h.answerText(request), "");
  EXPECT_TRUE(h.launches.empty());
  EXPECT_EQ(h.agent.load().jobs, 0u);
}

// It was cancelled as the commit came, and run again before the answer arrived, which is a repeat of the
// first.
TEST(Attaching, AnswerThatAJobWasOverDoesNotEndOneThatIsRunAgain) {
  AgentHarness h({aServer("a")});
  h.attach();
  h.submitted(aJob(1));
  h.tell(h.master.requeue(jobId(1), 0, 0s));
  ASSERT_EQ(h.commits.size(), 1u);
  CommitAnswer over;
  over.sequence = h.commits[0].sequence;
  over.outcome = CommitAnswer::Outcome::kJobOver;
  h.handle(agent::CommitAnswered{over});
  EXPECT_EQ(h.agent.load().jobs, 1u);
  h.loseCommits();
  h.offerJobs();
  EXPECT_THAT(h.untried, testing::IsEmpty());
  ASSERT_EQ(h.commits.size(), 1u);
  EXPECT_EQ(h.commits[0].claims.size(), 1u);
}

TEST(Attaching, SnapshotCountsThoughItsVersionsAreLower) {
  AgentHarness h({aServer("a")});
  h.attach();
  h.master.occupyElsewhere(0, {}, 2);
  h.tellServer(0);
  h.loseMaster();
  h.attachOnly();
  h.handle(
      agent::ServersUpdated{{aServer("a").holding({}, 3).update(0)}});  // of a master restored from a backup
  h.handle(agent::SnapshotComplete{});
  EXPECT_EQ(h.agent.load().freeUnits, 1u);
}

TEST(Attaching, GrantForATaskThatHasMovedOnIsIgnored) {
  AgentHarness h({aServer("a")});
  h.attach();
  h.submit(aJob(1));
  const CommitAnswer granted = h.master.take(h.commits[0]);
  h.tell(h.master.requeue(jobId(1), 0, 1min));  // it failed before the answer came
  h.handle(agent::CommitAnswered{granted});
  EXPECT_TRUE(h.launches.empty());
}

TEST(Attaching, NothingIsPlannedWhileTheMasterIsAway) {
  AgentHarness h({aServer("a")});
  h.master.occupyElsewhere(0, {}, 4);
  h.attach();
  h.submitted(aJob(1));
  h.loseMaster();
  h.master.leaveElsewhere(0);
  h.tellServers();
  h.pass(1min);
  EXPECT_TRUE(h.commits.empty());
  h.attach();
  h.takeCommits();
  EXPECT_EQ(h.launches.size(), 1u);
}

}  // namespace tarcil::attaching_test
