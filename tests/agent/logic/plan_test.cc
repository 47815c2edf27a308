#include <gtest/gtest.h>

#include <algorithm>

#include "core/decide/job_plan.h"
#include "tests/agent/agent_harness.h"

namespace tarcil::logic_plan_test {

using namespace std::chrono_literals;

JobPlan planned(const AgentHarness& h, const JobSpec& spec, uint64_t seed = 7) {
  const Result<JobPlan> plan = h.agent.plan(alice(), spec, seed);
  EXPECT_TRUE(plan) << plan.error().message;
  return plan ? *plan : JobPlan{};
}

std::string problemOf(const AgentHarness& h, const JobSpec& spec, const Caller& caller = alice()) {
  const Result<JobPlan> plan = h.agent.plan(caller, spec, 7);
  return plan ? "" : plan.error().message;
}

std::vector<ServerBuilder> noisyServers(int count) {
  std::vector<ServerBuilder> servers;
  for (int i = 0; i < count; ++i) {
    servers.push_back(aServer("s" + std::to_string(i)).platform("haswell").background({{Resource::kLlc, i}}));
  }
  return servers;
}

// --- What would happen ---

TEST(Plan, HasAPlaceForEachTaskAndNamesItsServers) {
  AgentHarness h({aServer("a").rus(2).platform("haswell"), aServer("b").rus(2).platform("milan")});
  h.attach();
  const JobPlan plan = planned(h, aJob(3));
  ASSERT_EQ(plan.claims.size(), 3u);
  for (TaskIndex i = 0; i < 3; ++i) EXPECT_EQ(plan.claims[i].task, i);
  EXPECT_EQ(plan.servers, (std::vector<ServerName>{{0, "a", "haswell"}, {1, "b", "milan"}}));
  EXPECT_EQ(plan.explanation.placed, 3u);
  EXPECT_EQ(plan.waitReason, "");
  EXPECT_EQ(plan.usableUnits, 4u);
  EXPECT_EQ(plan.freeUnits, 4u);
}

TEST(Plan, IsWhatASubmissionDecidesWithTheSameSeed) {
  JobSpec spec = aJob(6, causingAndTolerating({{Resource::kLlc, 20}}, {{Resource::kLlc, 45}}));
  AgentHarness h(noisyServers(40));
  h.attach();
  h.submit(spec);
  ASSERT_EQ(h.commits.size(), 1u);
  Commit& commit = h.commits[0];
  std::ranges::sort(commit.claims, {}, &Claim::task);
  AgentHarness same(noisyServers(40));
  same.attach();
  const JobPlan plan = planned(same, spec, commit.explanation.seed);
  EXPECT_EQ(plan.claims, commit.claims);
  EXPECT_EQ(plan.explanation.drawn, commit.explanation.drawn);
}

TEST(Plan, IsTheSameForTheSameSeedAndNotForEverySeed) {
  AgentHarness h(noisyServers(40));
  h.attach();
  const JobSpec spec = aJob(4);
  const JobPlan first = planned(h, spec, 1);
  EXPECT_EQ(planned(h, spec, 1), first);
  EXPECT_EQ(first.explanation.seed, 1u);
  bool differs = false;
  for (uint64_t seed = 2; seed < 12; ++seed) differs |= planned(h, spec, seed).claims != first.claims;
  EXPECT_TRUE(differs);
}

TEST(Plan, IsForAllTasksHoweverManyACommitTakes) {
  AgentHarness h({aServer("a").rus(4'000)});
  h.attach();
  EXPECT_EQ(planned(h, aJob(3'000)).claims.size(), 3'000u);
}

TEST(Plan, ExplainsMoreCandidatesThanAreStoredButNotAllThereAre) {
  AgentHarness h(noisyServers(300));
  h.attach();
  JobSpec spec = aJob(1);
  spec.policy = Policy::kGreedy;
  const JobPlan plan = planned(h, spec);
  EXPECT_EQ(plan.explanation.best.size(), JobPlan::kMaxCandidates);
  for (const Candidate& candidate : plan.explanation.best) {
    EXPECT_TRUE(std::ranges::any_of(plan.servers, [&candidate](const ServerName& server) {
      return server.id == candidate.server && server.platform == "haswell";
    }));
  }
}

// --- Nothing does happen ---

TEST(Plan, ChangesNothing) {
  AgentHarness planning({aServer("a"), aServer("b")}), other({aServer("a"), aServer("b")});
  for (AgentHarness* h : {&planning, &other}) {
    h->attach();
    h->submitted(aJob(6), jobId(1));
    h->submit(aJob(1), jobId(2));     // in flight
    h->submitted(aJob(6), jobId(3));  // waits
  }
  const size_t sent = planning.commitsSent;
  for (uint64_t seed = 0; seed < 10; ++seed) planned(planning, aJob(2), seed);
  EXPECT_EQ(planning.commitsSent, sent);
  EXPECT_EQ(planning.agent.load().freeUnits, other.agent.load().freeUnits);
  for (AgentHarness* h : {&planning, &other}) {
    h->endTask(jobId(1), 0);
    h->pass(1min);
    h->submit(aJob(3), jobId(4));
  }
  EXPECT_EQ(planning.commits, other.commits);
  EXPECT_FALSE(planning.commits.empty());
}

TEST(Plan, CountsWhatIsClaimedAndNotYetAnswered) {
  AgentHarness h({aServer("a").rus(4)});
  h.attach();
  h.submit(aJob(3));
  EXPECT_EQ(planned(h, aJob(1)).freeUnits, 1u);
  EXPECT_EQ(planned(h, aJob(2)).claims.size(), 1u);
}

// --- Tasks that would wait ---

TEST(Plan, SaysWhyTasksWouldWait) {
  AgentHarness h({aServer("a").rus(4)});
  h.attach();
  h.submitted(aJob(3));
  const JobPlan some = planned(h, aJob(4));
  EXPECT_EQ(some.claims.size(), 1u);
  EXPECT_EQ(some.waitReason, "no free unit: 4 of 4 are taken");
  JobSpec gang = aJob(4);
  gang.schedule = Schedule::kGang;
  const JobPlan none = planned(h, gang);
  EXPECT_TRUE(none.claims.empty());
  EXPECT_EQ(none.waitReason, "waiting for 4 slots at once (gang); 1 are free");
  EXPECT_EQ(none.explanation.seed, 7u);
  EXPECT_EQ(none.freeUnits, 1u);
}

TEST(Plan, SaysThatConcurrencyHoldsTasksBack) {
  AgentHarness h({aServer("a").rus(4)});
  h.attach();
  JobSpec spec = aJob(4);
  spec.concurrency = 2;
  const JobPlan plan = planned(h, spec);
  EXPECT_EQ(plan.claims.size(), 2u);
  EXPECT_EQ(plan.waitReason, "concurrency lets 2 of its tasks run at once; the others follow as these end");
}

TEST(Plan, SaysWhatIsInTheWayOfTasksThatSuitNowhere) {
  AgentHarness h({aServer("a").background({{Resource::kLlc, 80}})});
  h.attach();
  JobSpec spec = aJob(1, tolerating({{Resource::kLlc, 5}}));
  EXPECT_EQ(planned(h, spec).claims.size(), 1u) << "nothing runs that could end: waiting brings nothing";
  spec.target = 0.95;
  const JobPlan plan = planned(h, spec);
  EXPECT_TRUE(plan.claims.empty()) << "but it gets the target that it names";
  EXPECT_NE(plan.waitReason.find("llc is too contended"), std::string::npos) << plan.waitReason;
  ASSERT_FALSE(plan.explanation.best.empty()) << "shows what it was";
}

// --- Refused as a submission is ---

TEST(Plan, IsRefusedInTheWordsOfASubmission) {
  AgentHarness h({aServer("a").rus(4)});
  h.attach();
  JobSpec tooLarge = aJob(1), nowhere = aJob(1), wrong = aJob(1), asOther = aJob(1);
  tooLarge.rusPerTask = 5;
  nowhere.placement.constraints = {{"gpu", Constraint::Operator::kExists, {}}};
  wrong.profile.caused[0] = 100;
  asOther.user = "root";
  uint8_t id = 1;
  for (const JobSpec& spec : {tooLarge, nowhere, wrong, asOther}) {
    const std::string refusal = h.answerText(h.submit(spec, jobId(id++)));
    EXPECT_FALSE(refusal.empty());
    EXPECT_EQ(problemOf(h, spec), refusal);
  }
  Caller monitor = alice();
  monitor.role = Role::kMonitor;
  EXPECT_EQ(problemOf(h, aJob(1), monitor), h.answerText(h.submit(aJob(1), jobId(id), monitor)));
}

TEST(Plan, IsRefusedWhereTooManyJobsOfTheUserWait) {
  AgentHarness h({aServer("a").rus(1)}, {.maxWaitingJobs = 1});
  h.attach();
  h.submitted(aJob(1), jobId(1));
  h.submitted(aJob(1), jobId(2));
  const std::string problem = problemOf(h, aJob(1));
  EXPECT_NE(problem.find("1 jobs of alice wait already"), std::string::npos) << problem;
  EXPECT_EQ(problem, h.answerText(h.submit(aJob(1), jobId(3))));
}

TEST(Plan, NeedsTheWholeState) {
  AgentHarness h({aServer("a")});
  const auto isUnavailable = [&h]() {
    const Result<JobPlan> plan = h.agent.plan(alice(), aJob(1), 7);
    return !plan && plan.error().code == ErrorCode::kUnavailable;
  };
  EXPECT_TRUE(isUnavailable());
  h.attachOnly();
  EXPECT_TRUE(isUnavailable());
  h.feedSnapshot();
  EXPECT_FALSE(isUnavailable());
  h.loseMaster();
  EXPECT_TRUE(isUnavailable());
}

}  // namespace tarcil::logic_plan_test
