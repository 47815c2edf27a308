#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/state/server_check.h"
#include "master/logic/agents/agent_table.h"
#include "tests/master/master_harness.h"

namespace tarcil::agents_agents_test {

using namespace master;

constexpr Duration kTimeout = MasterOptions{}.agentTimeout;

// Two servers' worth of room and agents to be attached by the test.
struct Agents : testing::Test {
  MasterHarness master;
  SessionId monitor = master.attachMonitor("m", {serverFacts("a", 8)});
};

TEST_F(Agents, GetANewEpochWithEachNewProcess) {
  master.attachAgent("x");
  const uint64_t first = *master.agentAnswer().epoch;
  master.attachAgent("x");
  EXPECT_GT(*master.agentAnswer().epoch, first);
}

TEST_F(Agents, ResumeTheirEpochAcrossARestartOfTheMaster) {
  master.attachAgent("x");
  const uint64_t epoch = *master.agentAnswer().epoch;
  master.restart();
  master.attachAgent("x", epoch);
  EXPECT_EQ(*master.agentAnswer().epoch, epoch);
}

TEST_F(Agents, StartAnewWithAnEpochThatIsNotTheirs) {
  master.attachAgent("x");
  const uint64_t epoch = *master.agentAnswer().epoch;
  master.attachAgent("x", epoch + 7);
  EXPECT_EQ(*master.agentAnswer().epoch, epoch + 1);
}

TEST_F(Agents, WithAnAddressThatIsTooLongAreRefused) {
  for (const size_t bytes : {kMaxAddressBytes, kMaxAddressBytes + 1}) {
    const auto answers = only<AnswerAgentAttached>(
        master.handle(AgentAttached{1, 100 + bytes, "x", 0, std::string(bytes, 'a')}));
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].epoch.ok(), bytes == kMaxAddressBytes);
  }
}

TEST_F(Agents, WithoutAPlainNameAreRefused) {
  for (const std::string& name : {std::string(), std::string("a\0b", 3), std::string(129, 'a')}) {
    master.attachAgent(name);
    EXPECT_EQ(master.agentAnswer().epoch.error().code, ErrorCode::kInvalid) << name;
  }
}

// As many as there may be, of which x has a job.
struct ManyAgents : Agents {
  ManyAgents() {
    sessions.push_back(master.attachAgent("x"));
    master.commit(sessions.back(), newJob(1, spec()));
    for (size_t i = 1; i < kMaxAgents; ++i) sessions.push_back(master.attachAgent("y" + std::to_string(i)));
  }
  // It leaves, and its timeout passes.
  void leave(SessionId session) {
    master.detach(session);
    master.pass(kTimeout);
  }
  ErrorCode refusal(const std::string& name) {
    master.attachAgent(name);
    return master.agentAnswer().epoch.error().code;
  }
  std::vector<SessionId> sessions;
};

TEST_F(ManyAgents, AreAsManyAsAreAttachedOrHaveJobs) {
  EXPECT_EQ(refusal("z"), ErrorCode::kExhausted);
  master.detach(sessions[1]);
  EXPECT_EQ(refusal("z"), ErrorCode::kExhausted) << "y1 may come back in time";
  for (const SessionId session : sessions) master.detach(session);
  master.pass(kTimeout);
  master.attachAgent("z");
  ASSERT_TRUE(master.agentAnswer().epoch.ok());
  EXPECT_EQ(master.agentAnswer().told.jobs.size(), 1u) << "x, which has it, is not forgotten";
}

TEST_F(ManyAgents, ForgetOneThatIsOverdueWithoutJobsAndNeverGiveItsEpochsAgain) {
  master.attachAgent("y1");
  const uint64_t last = *master.agentAnswer().epoch;
  sessions[1] = master.attachAgent("y1");
  ASSERT_EQ(*master.agentAnswer().epoch, last + 1);
  leave(sessions[1]);
  master.attachAgent("z");
  ASSERT_TRUE(master.agentAnswer().epoch.ok());
  for (const AgentView& agent : master.logic().agents()) EXPECT_NE(agent.name, "y1");
  master.restart();
  master.pass(kTimeout);
  master.attachAgent("y1", last);
  EXPECT_GT(*master.agentAnswer().epoch, last + 1) << "of another life of y1, which may still be there";
}

TEST_F(Agents, AreForgottenADayAfterTheyAreOverdueUnlessTheyHaveJobs) {
  const auto knows = [this](const std::string& name) {
    return std::ranges::any_of(master.logic().agents(),
                               [&name](const AgentView& agent) { return agent.name == name; });
  };
  const SessionId owner = master.attachAgent("owner");
  master.commit(owner, newJob(1, spec()));
  const SessionId idle = master.attachAgent("idle"), back = master.attachAgent("back");
  for (const SessionId session : {owner, idle, back}) master.detach(session);
  master.pass(kTimeout);
  master.pass(kForgetAgentsAfter - std::chrono::seconds(1));
  EXPECT_TRUE(knows("idle"));
  master.attachAgent("back");  // gets the owner's job
  master.pass(std::chrono::seconds(1));
  EXPECT_FALSE(knows("idle"));
  EXPECT_FALSE(knows("owner")) << "its job has gone to another";
  EXPECT_TRUE(knows("back"));
  master.restart();
  EXPECT_FALSE(knows("idle")) << "nor has the store an entry";
}

TEST_F(Agents, WhoseJobsNobodyTakesAreNotForgotten) {
  const SessionId session = master.attachAgent("x");
  master.commit(session, newJob(1, spec()));
  master.detach(session);
  master.pass(kTimeout);
  master.pass(kForgetAgentsAfter);
  master.pass(kForgetAgentsAfter);
  ASSERT_EQ(master.logic().agents().size(), 1u);
  master.attachAgent("y");
  EXPECT_EQ(master.agentAnswer().told.jobs.size(), 1u);
}

TEST_F(Agents, GetEveryUnfinishedTaskOfTheirJobsWhenTheyAttach) {
  const SessionId first = master.attachAgent("x");
  Commit commit = newJob(1, spec(3));
  commit.claims = {claim(0, 0), claim(1, 0)};
  const AllocationId allocation = master.place(first, commit);
  master.ended(monitor, allocation, exitedWith(0));

  master.attachAgent("x");
  ASSERT_EQ(master.agentAnswer().told.jobs.size(), 1u);
  const JobAssignment& job = master.agentAnswer().told.jobs[0];
  EXPECT_TRUE(job.complete);
  EXPECT_EQ(job.job.id, jobId(1));
  ASSERT_EQ(job.tasks.size(), 2u);
  EXPECT_THAT(job.waiting, testing::IsEmpty()) << "the third has a record, as those beside it";
  EXPECT_EQ(job.tasks[0].index, 1u);
  EXPECT_EQ(job.tasks[0].state, RunState::kStarting);
  EXPECT_EQ(job.tasks[0].allocation, allocation + 1);
  EXPECT_EQ(job.tasks[0].rus, std::vector<RuIndex>{1});
  EXPECT_EQ(job.tasks[1].state, RunState::kQueued);
}

TEST_F(Agents, GetTasksThatWaitForTheFirstTimeAsRanges) {
  const SessionId first = master.attachAgent("x");
  Commit commit = newJob(1, spec(200));
  commit.claims = {claim(70, 0)};
  master.place(first, commit);
  master.attachAgent("x");
  const JobAssignment& job = master.agentAnswer().told.jobs.at(0);
  EXPECT_THAT(job.waiting, testing::ElementsAre(TaskRange{0, 63}, TaskRange{128, 199}));
  EXPECT_EQ(job.tasks.size(), 64u);
}

// Told one job at a time; x has jobs 1, 2 and 3, which wait, and attaches anew.
struct AgentsWithPages : testing::Test {
  static MasterOptions options() {
    MasterOptions options;
    options.jobsMessageBytes = 1;
    return options;
  }
  AgentsWithPages() {
    session = master.attachAgent("x");
    for (int job : {1, 2, 3}) master.commit(session, newJob(job, spec()));
    session = master.attachAgent("x");
  }

  Result<AgentJobs> askForMore(SessionId from) {
    return only<AnswerMoreJobs>(master.handle(MoreJobsAsked{7, from})).at(0).told;
  }
  // Of the actions, the jobs that an agent hears news of.
  static std::vector<JobId> newsIn(const std::vector<Action>& actions) {
    std::vector<JobId> jobs;
    for (const AssignJob& news : only<AssignJob>(actions)) jobs.push_back(news.assignment.job.id);
    return jobs;
  }
  std::vector<Action> hold(int job) {
    return master.handle(JobSteered{1, theOperator(), jobId(job), JobChange::kHold});
  }
  std::vector<Action> release(int job) {
    return master.handle(JobSteered{1, theOperator(), jobId(job), JobChange::kRelease});
  }

  MasterHarness master{options()};
  SessionId session = 0;
};

TEST_F(AgentsWithPages, AreToldTheirJobsOneMessageAfterTheOther) {
  const AgentJobs& first = master.agentAnswer().told;
  ASSERT_EQ(first.jobs.size(), 1u);
  EXPECT_EQ(first.jobs[0].job.id, jobId(1));
  EXPECT_TRUE(first.more);
  for (int job : {2, 3}) {
    const auto told = askForMore(session);
    ASSERT_TRUE(told.ok());
    ASSERT_EQ(told->jobs.size(), 1u);
    EXPECT_EQ(told->jobs[0].job.id, jobId(job));
    EXPECT_TRUE(told->jobs[0].complete);
    EXPECT_EQ(told->more, job == 2);
  }
  const auto none = askForMore(session);
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->jobs.empty() && !none->more);
}

TEST_F(AgentsWithPages, HearNewsOfWhatTheyWereToldAndSeeTheRestAsItIsWhenTold) {
  hold(1);
  EXPECT_EQ(newsIn(release(1)), std::vector{jobId(1)});
  hold(2);
  EXPECT_TRUE(newsIn(release(2)).empty()) << "it would come before the job";
  master.cancel(3, theOperator());
  const auto second = askForMore(session);
  ASSERT_EQ(second->jobs.size(), 1u);
  EXPECT_EQ(second->jobs[0].job.id, jobId(2));
  EXPECT_FALSE(second->more) << "job 3 is over";
  hold(2);
  EXPECT_EQ(newsIn(release(2)), std::vector{jobId(2)});
}

TEST_F(AgentsWithPages, AreToldOfAJobThatComesToThemMeanwhileOnce) {
  const SessionId other = master.attachAgent("y");
  master.commit(other, newJob(0, spec()));
  master.commit(other, newJob(4, spec()));
  master.detach(other);
  const std::vector<JobId> news = newsIn(master.pass(2 * kTimeout));
  EXPECT_EQ(news, std::vector{jobId(0)}) << "before those that were told, so no page has it";
  std::vector<JobId> told;
  for (bool more = true; more;) {
    const auto page = askForMore(session);
    for (const JobAssignment& job : page->jobs) told.push_back(job.job.id);
    more = page->more;
  }
  EXPECT_EQ(told, (std::vector{jobId(2), jobId(3), jobId(4)}));
}

TEST_F(AgentsWithPages, AreToldNothingThroughASessionThatWasReplaced) {
  const SessionId before = session;
  session = master.attachAgent("x");
  const auto refused = askForMore(before);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
  const auto second = askForMore(session);
  ASSERT_EQ(second->jobs.size(), 1u);
  EXPECT_EQ(second->jobs[0].job.id, jobId(2));
}

TEST_F(Agents, CommitNothingThroughASessionThatWasReplaced) {
  const SessionId old = master.attachAgent("x");
  const SessionId current = master.attachAgent("x", *master.agentAnswer().epoch);
  EXPECT_EQ(master.commit(old, newJob(1, spec())).outcome, CommitAnswer::Outcome::kSuperseded);
  EXPECT_FALSE(master.logic().job(jobId(1)));
  master.detach(old);  // its late end does not touch the one that replaced it
  EXPECT_EQ(master.commit(current, newJob(1, spec())).outcome, CommitAnswer::Outcome::kOk);
}

TEST_F(Agents, WhoseNameAnotherTakesAreToldAtOnce) {
  const SessionId old = master.attachAgent("x");
  EXPECT_TRUE(only<EndAgent>(master.lastActions()).empty());
  master.attachAgent("x");
  const auto told = only<EndAgent>(master.lastActions());
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].session, old);
}

TEST_F(Agents, LoseTheirJobsToTheLeastLoadedAfterTheirTimeout) {
  const SessionId gone = master.attachAgent("gone");
  const SessionId busy = master.attachAgent("busy");
  const SessionId idle = master.attachAgent("idle");
  master.commit(busy, newJob(1, spec()));
  master.commit(gone, newJob(2, spec()));
  master.detach(gone);
  EXPECT_TRUE(only<AssignJob>(master.pass(kTimeout / 2)).empty());

  const auto assigned = only<AssignJob>(master.pass(kTimeout));
  ASSERT_EQ(assigned.size(), 1u);
  EXPECT_EQ(assigned[0].session, idle);
  EXPECT_TRUE(assigned[0].assignment.complete);
  EXPECT_EQ(assigned[0].assignment.job.id, jobId(2));
  EXPECT_EQ(master.job(2).progress.owner, "idle");
}

TEST_F(Agents, AreFencedOnceTheirJobsAreHandedOver) {
  const SessionId gone = master.attachAgent("gone");
  const uint64_t epoch = *master.agentAnswer().epoch;
  master.attachAgent("other");
  master.commit(gone, newJob(1, spec()));
  master.detach(gone);
  master.pass(kTimeout);

  const SessionId late = master.attachAgent("gone", epoch);
  EXPECT_GT(*master.agentAnswer().epoch, epoch);
  EXPECT_TRUE(master.agentAnswer().told.jobs.empty());
  EXPECT_EQ(master.commit(late, moreFor(1)).outcome, CommitAnswer::Outcome::kJobOver);
}

TEST_F(Agents, KeepTheirJobsWhenTheyComeBackInTime) {
  const SessionId session = master.attachAgent("x");
  const uint64_t epoch = *master.agentAnswer().epoch;
  master.attachAgent("other");
  master.commit(session, newJob(1, spec()));
  master.detach(session);
  master.pass(kTimeout / 2);
  const SessionId again = master.attachAgent("x", epoch);
  master.pass(2 * kTimeout);
  EXPECT_EQ(master.job(1).progress.owner, "x");
  EXPECT_EQ(master.commit(again, moreFor(1)).outcome, CommitAnswer::Outcome::kOk);
}

TEST_F(Agents, ThatAttachGetTheJobsNobodyWasThereToTake) {
  const SessionId gone = master.attachAgent("gone");
  master.commit(gone, newJob(1, spec()));
  master.detach(gone);
  master.pass(2 * kTimeout);
  EXPECT_EQ(master.job(1).progress.owner, "gone");

  master.attachAgent("next");
  ASSERT_EQ(master.agentAnswer().told.jobs.size(), 1u);
  EXPECT_TRUE(only<AssignJob>(master.lastActions()).empty()) << "told twice";
  EXPECT_EQ(master.job(1).progress.owner, "next");
  master.restart();
  EXPECT_EQ(master.job(1).progress.owner, "next");
}

TEST_F(Agents, HaveTheirTimeoutAfterARestartOfTheMaster) {
  master.commit(master.attachAgent("gone"), newJob(1, spec()));
  master.attachAgent("other");
  const uint64_t epoch = *master.agentAnswer().epoch;
  master.restart();
  master.attachAgent("other", epoch);
  master.pass(kTimeout / 2);
  EXPECT_EQ(master.job(1).progress.owner, "gone");
  master.pass(kTimeout);
  EXPECT_EQ(master.job(1).progress.owner, "other");
}

TEST_F(Agents, AreShownWithTheirJobs) {
  const SessionId x = master.attachAgent("x");
  master.commit(x, newJob(1, spec()));
  master.detach(master.attachAgent("y"));
  const std::vector<AgentView> agents = master.logic().agents();
  ASSERT_EQ(agents.size(), 2u);
  EXPECT_EQ(agents[0].address, "address-of-x");
  EXPECT_EQ(agents[0].jobs, 1u);
  EXPECT_TRUE(agents[0].attached);
  EXPECT_FALSE(agents[1].attached);
}

}  // namespace tarcil::agents_agents_test
