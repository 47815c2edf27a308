// Countable things of servers: given with slots, kept through restarts, and given back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/master/master_harness.h"

namespace tarcil::logic_extras_test {

using namespace master;
using testing::IsEmpty;

ServerFacts server(uint32_t gpus) {
  ServerFacts facts = serverFacts("a", 8);
  if (gpus > 0) facts.extras = {{"gpus", gpus}};
  return facts;
}

ExtraNumbers gpus(std::vector<uint16_t> numbers) {
  return {{"gpus", std::move(numbers)}};
}

// Server a (number 0, 8 units, 4 gpus) and an agent.
struct ExtrasOfServers : testing::Test {
  MasterHarness master;
  SessionId monitor = master.attachMonitor("m", {server(4)});
  SessionId agent = master.attachAgent("x");

  // The answer to a first commit that claims a slot of server a for each task.
  CommitAnswer submit(int number, uint32_t tasks, uint32_t gpusEach,
                      Schedule schedule = Schedule::kIncremental) {
    JobSpec wanted = spec(tasks);
    wanted.extras = {{"gpus", gpusEach}};
    wanted.schedule = schedule;
    Commit commit = newJob(number, wanted);
    for (TaskIndex task = 0; task < tasks; ++task) commit.claims.push_back(claim(task, 0));
    return master.commit(agent, commit);
  }
  uint32_t freeGpus() {
    const FreeExtras free = master.status("a").freeExtras;
    return free.contains("gpus") ? free.at("gpus").size() : 0;
  }
};

TEST_F(ExtrasOfServers, AreGivenFromTheLowestAndNotedWithTheTask) {
  const CommitAnswer answer = submit(1, 2, 2);
  EXPECT_EQ(answer.grants.at(0).extras, gpus({0, 1}));
  EXPECT_EQ(answer.grants.at(1).extras, gpus({2, 3}));
  EXPECT_EQ(master.task(1, 1).extras, gpus({2, 3}));
  EXPECT_EQ(master.logic().server("a")->tasks.at(1).extras, gpus({2, 3}));
  EXPECT_EQ(freeGpus(), 0u);
}

TEST_F(ExtrasOfServers, AreNotGivenWhereTooFewAreFree) {
  const CommitAnswer answer = submit(1, 2, 3);
  EXPECT_EQ(answer.grants.at(0).verdict, Verdict::kGranted);
  EXPECT_EQ(answer.grants.at(1).verdict, Verdict::kNoExtras);
  EXPECT_EQ(master.freeUnits("a"), 7u);
  EXPECT_EQ(master.task(1, 1).state, RunState::kQueued);
}

TEST_F(ExtrasOfServers, OfAGangAreGivenToAllOrNone) {
  const ServerStatus before = master.status("a");
  const CommitAnswer answer = submit(1, 3, 2, Schedule::kGang);
  EXPECT_EQ(answer.grants.at(0), Grant{Verdict::kNotAll});
  EXPECT_EQ(answer.grants.at(1), Grant{Verdict::kNotAll});
  EXPECT_EQ(answer.grants.at(2), Grant{Verdict::kNoExtras});
  EXPECT_EQ(master.status("a"), before);
}

TEST_F(ExtrasOfServers, ComeBackWhenTheTaskEnds) {
  const CommitAnswer first = submit(1, 2, 1);
  master.ended(monitor, first.grants.at(0).allocation, exitedWith(0));
  EXPECT_EQ(freeGpus(), 3u);
  EXPECT_EQ(submit(2, 1, 2).grants.at(0).extras, gpus({0, 2}));
}

TEST_F(ExtrasOfServers, AreStillHeldAfterARestart) {
  submit(1, 1, 3);
  master.restart();
  EXPECT_EQ(master.task(1, 0).extras, gpus({0, 1, 2}));
  EXPECT_EQ(freeGpus(), 1u);
  monitor = master.attachMonitor("m", {server(4)});
  agent = master.attachAgent("x");
  EXPECT_EQ(submit(2, 1, 1).grants.at(0).extras, gpus({3}));
}

TEST_F(ExtrasOfServers, AreToldToTheAgentThatTakesTheJobOver) {
  submit(1, 1, 2);
  master.attachAgent("x");
  ASSERT_EQ(master.agentAnswer().told.jobs.size(), 1u);
  EXPECT_EQ(master.agentAnswer().told.jobs.at(0).tasks.at(0).extras, gpus({0, 1}));
}

TEST_F(ExtrasOfServers, StayWithTheirTasksWhereTheServerComesBackWithFewer) {
  const AllocationId allocation = submit(1, 1, 2).grants.at(0).allocation;
  monitor = master.attachMonitor("m", {server(1)}, {{allocation, "a"}});
  EXPECT_EQ(master.task(1, 0).extras, gpus({0, 1}));
  EXPECT_EQ(freeGpus(), 0u);
  EXPECT_EQ(submit(2, 1, 1).grants.at(0).verdict, Verdict::kNoExtras);
  master.ended(monitor, allocation, exitedWith(0));
  EXPECT_EQ(freeGpus(), 1u);

  master.attachMonitor("m", {server(0)});
  EXPECT_THAT(master.status("a").freeExtras, IsEmpty());
  master.attachMonitor("m", {server(2)});
  EXPECT_EQ(freeGpus(), 2u);
}

TEST_F(ExtrasOfServers, AreWhatTheJobSaysNotWhatTheAgentSays) {
  submit(1, 1, 5);  // more than there are: waits
  Commit again = moreFor(1);
  again.newJob = NewJob{.record = master.job(1).record, .files = nullptr};
  again.newJob->record.spec.extras.clear();
  again.claims = {claim(0, 0)};
  EXPECT_EQ(master.commit(agent, again).outcome, CommitAnswer::Outcome::kJobExists);
  Commit more = moreFor(1);
  more.claims = {claim(0, 0)};
  EXPECT_EQ(master.commit(agent, more).grants.at(0).verdict, Verdict::kNoExtras);
}

}  // namespace tarcil::logic_extras_test
