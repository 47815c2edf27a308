#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/master/master_harness.h"

namespace tarcil::monitors_test {

using namespace master;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr Duration kTimeout = MasterOptions{}.serverTimeout;

// Server a of 4 units, an agent, and job 1 of two tasks placed on a.
struct Monitors : testing::Test {
  MasterHarness master;
  const std::vector<ServerFacts> servers = {serverFacts("a", 4)};
  SessionId monitor = master.attachMonitor("m", servers);
  SessionId agent = master.attachAgent("x");
  AllocationId first = 0, second = 0;

  void SetUp() override {
    Commit commit = newJob(1, spec(2));
    commit.claims = {claim(0, 0), claim(1, 0)};
    first = master.place(agent, commit);
    second = first + 1;
  }
  TaskRecord task(TaskIndex index) { return master.task(1, index); }
};

TEST_F(Monitors, KeepTheNumbersOfTheirServers) {
  master.attachMonitor("n", {serverFacts("b", 1)});
  EXPECT_EQ(master.logic().server("b")->id, 1u);
  master.restart();
  master.attachMonitor("n", {serverFacts("b", 1), serverFacts("c", 1)});
  EXPECT_EQ(master.logic().server("b")->id, 1u);
  EXPECT_EQ(master.logic().server("c")->id, 2u);
}

TEST_F(Monitors, PublishFactsWhereTheyChanged) {
  ServerFacts moved = servers[0];
  moved.address = "elsewhere";
  master.attachMonitor("m", {moved}, {{first, "a"}, {second, "a"}});
  const auto published = only<PublishServer>(master.lastActions());
  ASSERT_EQ(published.size(), 1u);
  EXPECT_EQ(published[0].update.facts, moved);
  master.restart();
  EXPECT_EQ(master.logic().server("a")->facts.address, "elsewhere");
}

TEST_F(Monitors, MayNotClaimTheServersOfAnAttachedOne) {
  master.attachMonitor("thief", servers);
  EXPECT_EQ(master.monitorAnswer().status.error().code, ErrorCode::kConflict);
  EXPECT_TRUE(master.status("a").up);
  EXPECT_EQ(only<AnswerReports>(master.started(monitor, first)).at(0).status.ok(), true);
}

TEST_F(Monitors, BringMoreServersWithTheirTasksOneCallAfterTheOther) {
  master.started(monitor, first);
  master.detach(monitor);
  const SessionId again = master.attachMonitor("m", {serverFacts("b", 1)});
  EXPECT_FALSE(master.status("a").up);
  master.attachMore(again, servers, {{second, "a"}, {9'999, "a"}, {first, "b"}});
  ASSERT_TRUE(master.monitorAnswer().status);
  EXPECT_TRUE(master.status("a").up);
  EXPECT_TRUE(master.status("b").up);
  EXPECT_THAT(master.monitorAnswer().drop, UnorderedElementsAre(9'999, first)) << "unknown, and elsewhere";
  EXPECT_EQ(task(0).state, RunState::kQueued) << "it ran, and the monitor does not know it there";
  EXPECT_EQ(task(1).allocation, second);
  EXPECT_TRUE(only<AnswerReports>(master.started(again, second)).at(0).status.ok());
  master.detach(again);
  EXPECT_FALSE(master.status("a").up);
  EXPECT_FALSE(master.status("b").up);
}

TEST_F(Monitors, MayNotBringMoreOfAnothersNorOneTwiceNorUnasked) {
  const SessionId other = master.attachMonitor("n", {serverFacts("b", 1)});
  master.attachMore(other, {serverFacts("c", 1), serverFacts("a", 4)});
  EXPECT_EQ(master.monitorAnswer().status.error().code, ErrorCode::kConflict);
  EXPECT_FALSE(master.logic().server("c")) << "nothing has changed";
  master.attachMore(other, {serverFacts("b", 1)});
  EXPECT_EQ(master.monitorAnswer().status.error().code, ErrorCode::kInvalid);
  master.attachMonitor("n", {serverFacts("b", 1)});
  master.attachMore(other, {serverFacts("c", 1)});
  EXPECT_EQ(master.monitorAnswer().status.error().code, ErrorCode::kConflict)
      << "another session speaks for it";
  EXPECT_FALSE(master.logic().server("c"));
}

TEST_F(Monitors, MayNotBringMoreServersThanTablesHavePlacesFor) {
  std::vector<ServerFacts> many(kMaxServers, serverFacts("s", 1));
  for (size_t i = 0; i < many.size(); ++i) many[i].name += std::to_string(i);
  master.attachMonitor("n", many);
  EXPECT_EQ(master.monitorAnswer().status.error().code, ErrorCode::kExhausted);
  EXPECT_FALSE(master.logic().server("s0"));
}

TEST_F(Monitors, TakeOverServersWhoseMonitorIsGoneAndLoseWhatTheyDoNotKnow) {
  master.started(monitor, first);
  master.detach(monitor);
  master.attachMonitor("heir", servers, {{first, "a"}});
  EXPECT_TRUE(master.monitorAnswer().status.ok());
  EXPECT_EQ(task(0).state, RunState::kRunning);
  EXPECT_EQ(task(1).state, RunState::kQueued) << "its launch may have reached the other monitor";
  EXPECT_EQ(task(1).attempt, 1u);
}

TEST_F(Monitors, AreRefusedWithServersThatCannotBe) {
  ServerFacts nameless = serverFacts("", 1);
  ServerFacts empty = serverFacts("e", 0);
  ServerFacts huge = serverFacts("h", 70'000);
  ServerFacts oddRack = serverFacts("r", 1);
  oddRack.rack = "a rack";
  const std::vector<std::vector<ServerFacts>> wrong = {{nameless},
                                                       {empty},
                                                       {huge},
                                                       {oddRack},
                                                       {serverFacts("p", 1, "../p")},
                                                       {serverFacts("b", 1), serverFacts("b", 1)}};
  for (const auto& list : wrong) {
    master.attachMonitor("n", list);
    EXPECT_EQ(master.monitorAnswer().status.error().code, ErrorCode::kInvalid);
  }
  for (const std::string& identity : {std::string(), std::string(129, 'n')}) {
    master.attachMonitor(identity, {serverFacts("c", 1)});
    EXPECT_EQ(master.monitorAnswer().status.error().code, ErrorCode::kInvalid);
  }
  EXPECT_EQ(master.logic().servers().size(), 1u);
}

TEST_F(Monitors, ThatLeaveTakeTheirServersDownAtOnce) {
  const auto published = only<PublishServer>(master.detach(monitor));
  ASSERT_EQ(published.size(), 1u);
  EXPECT_FALSE(published[0].update.status.up);
  EXPECT_EQ(task(0).state, RunState::kStarting) << "its tasks run on";
}

TEST_F(Monitors, WithManyServersThatLeaveAreToldOfInSeveralEvents) {
  constexpr size_t kAtOnce = ServerTable::kUpdatesAtOnce;
  std::vector<ServerFacts> many;
  for (size_t i = 0; i < 2 * kAtOnce + 1; ++i) many.push_back(serverFacts("s" + std::to_string(i), 1));
  const SessionId large = master.attachMonitor("large", many);
  while (!only<PublishServer>(master.fireTimer()).empty()) continue;
  std::set<ServerId> down;
  const auto told = [&](const std::vector<Action>& actions) {
    const auto published = only<PublishServer>(actions);
    for (const PublishServer& each : published) {
      if (!each.update.status.up) down.insert(each.update.id);
    }
    return published.size();
  };
  EXPECT_EQ(told(master.detach(large)), kAtOnce);
  EXPECT_EQ(told(master.fireTimer()), kAtOnce);
  EXPECT_EQ(told(master.pass(Duration::zero())), 1u) << "at once";
  EXPECT_EQ(down.size(), many.size());
}

TEST_F(Monitors, ThatShutDownAreGivenNothingMoreAndTheirTasksGoBackIntoTheQueue) {
  master.started(monitor, first);
  const auto published = only<PublishServer>(master.handle(MonitorLeaves{monitor}));
  ASSERT_EQ(published.size(), 1u);
  EXPECT_FALSE(published[0].update.status.up);
  TaskEnd end;
  end.cause = EndCause::kCancelled;
  end.problem = "its server was shut down";
  master.ended(monitor, first, end);
  EXPECT_EQ(task(0).state, RunState::kQueued);
  EXPECT_EQ(task(0).failures, 0u) << "the attempt does not count";
  EXPECT_EQ(task(0).previous, "was stopped: its server was shut down");
  Commit again = newJob(2, spec());
  again.claims = {claim(0, 0)};
  EXPECT_EQ(master.commit(agent, again).grants.at(0).allocation, 0u) << "the server takes nothing more";
}

TEST_F(Monitors, ThatAttachAgainAfterTheyMeantToLeaveStay) {
  master.handle(MonitorLeaves{monitor});
  master.attachMonitor("m", servers, {{first, "a"}, {second, "a"}});
  EXPECT_TRUE(master.status("a").up);
}

TEST_F(Monitors, ThatHaveLeftTakeTheirServersDownOnceMore) {
  master.handle(MonitorLeaves{monitor});
  master.detach(monitor);
  master.pass(2 * kTimeout);
  EXPECT_EQ(task(0).state, RunState::kQueued) << "lost like those of any server that stays away";
}

TEST_F(Monitors, ThatStayAwayLoseTheirTasks) {
  master.started(monitor, first);
  master.detach(monitor);
  EXPECT_THAT(only<JobChanged>(master.pass(kTimeout / 2)), IsEmpty());
  const auto assigned = only<AssignJob>(master.pass(kTimeout));
  ASSERT_EQ(assigned.size(), 1u);
  EXPECT_EQ(assigned[0].assignment.tasks.size(), 2u);
  EXPECT_EQ(task(0).state, RunState::kQueued);
  EXPECT_EQ(task(0).attempt, 1u);
  EXPECT_EQ(task(0).failures, 0u);
  EXPECT_EQ(task(0).end.cause, EndCause::kLost);
  EXPECT_EQ(master.freeUnits("a"), 4u);
}

TEST_F(Monitors, ThatStayAwayAreWaitedForWithOneTimer) {
  master.detach(monitor);
  const size_t asked = master.wakesAsked();
  for (int job : {2, 3}) {
    Commit failAttempt = newJob(job, spec());
    failAttempt.explanation.wanted = 1;
    master.commit(agent, failAttempt);
  }
  EXPECT_EQ(master.wakesAsked(), asked);
}

TEST_F(Monitors, HaveTheirTimeoutAfterARestartOfTheMaster) {
  master.started(monitor, first);
  master.restart();
  EXPECT_FALSE(master.status("a").up);
  master.pass(kTimeout / 2);
  EXPECT_EQ(task(0).state, RunState::kRunning);
  master.pass(kTimeout);
  EXPECT_EQ(task(0).state, RunState::kQueued);
}

TEST_F(Monitors, ThatComeBackInTimeKeepTheirTasks) {
  master.started(monitor, first);
  master.detach(monitor);
  master.pass(kTimeout / 2);
  master.attachMonitor("m", servers, {{first, "a"}, {second, "a"}});
  EXPECT_THAT(master.monitorAnswer().drop, IsEmpty());
  master.pass(2 * kTimeout);
  EXPECT_EQ(task(0).state, RunState::kRunning);
  EXPECT_EQ(task(1).state, RunState::kStarting);
}

TEST_F(Monitors, ThatDoNotKnowARunningTaskLostIt) {
  master.started(monitor, first);
  master.attachMonitor("m", servers, {{second, "a"}});
  EXPECT_EQ(task(0).state, RunState::kQueued);
  EXPECT_EQ(task(0).end.cause, EndCause::kLost);
}

TEST_F(Monitors, ThatDoNotKnowAStartingTaskAreSentItAgain) {
  master.attachMonitor("m", servers, {{second, "a"}});
  const auto assigned = only<AssignJob>(master.lastActions());
  ASSERT_EQ(assigned.size(), 1u);
  EXPECT_EQ(assigned[0].session, agent);
  ASSERT_EQ(assigned[0].assignment.tasks.size(), 1u);
  EXPECT_EQ(assigned[0].assignment.tasks[0].allocation, first);
  EXPECT_EQ(assigned[0].assignment.tasks[0].state, RunState::kStarting);
}

TEST_F(Monitors, DropWhatTheMasterDoesNotKnow) {
  master.ended(monitor, second, exitedWith(0));
  master.attachMonitor("m", servers, {{first, "a"}, {second, "a"}, {777, "a"}, {778, "elsewhere"}});
  EXPECT_THAT(master.monitorAnswer().drop, ElementsAre(second, 777, 778));
}

TEST_F(Monitors, AreToldWhatToStopWhenTheyComeBack) {
  master.detach(monitor);
  EXPECT_THAT(only<StopTask>(master.cancel(1, user("alice"))), IsEmpty());
  master.restart();
  master.attachMonitor("m", servers, {{second, "a"}});
  EXPECT_THAT(master.monitorAnswer().stop, ElementsAre(first, second)) << "also what it does not know";
}

TEST_F(Monitors, ThatNoLongerListAServerLeaveItDown) {
  monitor = master.attachMonitor("m", {serverFacts("b", 1)});
  EXPECT_FALSE(master.status("a").up);
  EXPECT_TRUE(master.status("b").up);
  master.pass(2 * kTimeout);
  EXPECT_EQ(task(0).state, RunState::kQueued) << "lost";
}

TEST_F(Monitors, ReportNothingThroughASessionThatWasReplaced) {
  master.attachMonitor("m", servers, {{first, "a"}, {second, "a"}});
  const auto actions = master.ended(monitor, first, exitedWith(0));
  EXPECT_EQ(only<AnswerReports>(actions).at(0).status.error().code, ErrorCode::kConflict);
  EXPECT_EQ(task(0).state, RunState::kStarting);
  master.detach(monitor);
  EXPECT_TRUE(master.status("a").up) << "the late end of the old session does not touch the new one";
}

TEST_F(Monitors, ReportNothingForTasksOfOtherServers) {
  const SessionId other = master.attachMonitor("n", {serverFacts("b", 1)});
  EXPECT_TRUE(only<AnswerReports>(master.ended(other, first, exitedWith(0))).at(0).status.ok());
  EXPECT_EQ(task(0).state, RunState::kStarting);
}

TEST_F(Monitors, AreToldToStopWhatNobodyOwns) {
  master.detach(monitor);
  master.pass(2 * kTimeout);
  monitor = master.attachMonitor("m", servers);
  const auto actions = master.started(monitor, first);  // its launch was late
  EXPECT_TRUE(only<AnswerReports>(actions).at(0).status.ok());
  const auto stops = only<StopTask>(actions);
  ASSERT_EQ(stops.size(), 1u);
  EXPECT_EQ(stops[0].session, monitor);
  EXPECT_EQ(stops[0].allocation, first);
  EXPECT_EQ(task(0).state, RunState::kQueued);
}

TEST_F(Monitors, AreNotToldToStopWhatHasEnded) {
  master.ended(monitor, first, exitedWith(0));
  EXPECT_THAT(only<StopTask>(master.ended(monitor, first, exitedWith(0))), IsEmpty());
}

TEST_F(Monitors, WithFewerUnitsKeepTheTasksOnTheOthers) {
  master.attachMonitor("m", {serverFacts("a", 1)}, {{first, "a"}, {second, "a"}});
  EXPECT_EQ(master.freeUnits("a"), 0u);
  master.restart();
  monitor = master.attachMonitor("m", {serverFacts("a", 1)}, {{first, "a"}, {second, "a"}});
  master.ended(monitor, first, exitedWith(0));
  master.ended(monitor, second, exitedWith(0));
  EXPECT_EQ(master.freeUnits("a"), 1u);
}

// Server a of 4 units, and job 1, exclusive, of one task on it, that runs.
struct Exclusive : Monitors {
  void SetUp() override {
    Monitors::SetUp();
    JobSpec wanted = spec();
    wanted.exclusive = true;
    Commit commit = newJob(2, wanted);
    commit.claims = {claim(0, 0)};
    allocation = master.place(agent, commit);
    master.started(monitor, allocation);
  }
  Result<std::vector<AllocationId>> renew(SessionId session, std::vector<AllocationId> starting) {
    return only<AnswerLease>(master.handle(LeaseAsked{1'000, session, std::move(starting)})).at(0).refused;
  }
  AllocationId allocation = 0;
};

TEST_F(Exclusive, LeasesEndWellBeforeTheServerTimeout) {
  master.attachMonitor("m", servers, {{first, "a"}, {second, "a"}, {allocation, "a"}});
  EXPECT_EQ(master.monitorAnswer().lease, kTimeout * 2 / 3);
}

TEST_F(Exclusive, ALeaseRefusesTasksThatAreNobodysThere) {
  const SessionId other = master.attachMonitor("n", {serverFacts("b", 1)});
  EXPECT_THAT(renew(monitor, {allocation, 999}).value(), ElementsAre(999));
  EXPECT_THAT(renew(other, {allocation}).value(), ElementsAre(allocation));
}

TEST_F(Exclusive, AMonitorThatWasReplacedGetsNoLease) {
  master.attachMonitor("m", servers, {{first, "a"}, {second, "a"}, {allocation, "a"}});
  EXPECT_EQ(renew(monitor, {}).error().code, ErrorCode::kConflict);
}

TEST_F(Exclusive, ATaskOfAServerThatIsLostIsPlacedAgainAtOnceWhenTheTimeoutIsOver) {
  master.detach(monitor);
  const auto actions = master.pass(kTimeout);
  EXPECT_EQ(master.task(2, 0).state, RunState::kQueued);
  for (const AssignJob& action : only<AssignJob>(actions)) {
    for (const TaskAssignment& task : action.assignment.tasks) EXPECT_EQ(task.delay, Duration::zero());
  }
}

// The server is there, the task may be as well: its shim lives by a lease that nobody renews any more.
TEST_F(Exclusive, ATaskThatItsServerDoesNotKnowIsPlacedAgainAfterTheTimeout) {
  master.attachMonitor("m", servers, {{first, "a"}, {second, "a"}});
  EXPECT_EQ(master.task(2, 0).state, RunState::kQueued);
  std::vector<Duration> delays;
  for (const AssignJob& action : only<AssignJob>(master.lastActions())) {
    if (action.assignment.job.id != jobId(2)) continue;
    for (const TaskAssignment& task : action.assignment.tasks) delays.push_back(task.delay);
  }
  EXPECT_THAT(delays, ElementsAre(kTimeout));
}

TEST_F(Exclusive, OtherTasksDoNotWaitForThat) {
  master.started(monitor, first);
  master.attachMonitor("m", servers, {{second, "a"}, {allocation, "a"}});
  for (const AssignJob& action : only<AssignJob>(master.lastActions())) {
    for (const TaskAssignment& task : action.assignment.tasks) EXPECT_EQ(task.delay, Duration::zero());
  }
}

TEST_F(Exclusive, TheWaitSurvivesTheMaster) {
  master.attachMonitor("m", servers, {{first, "a"}, {second, "a"}});
  master.restart();
  master.attachAgent("x");
  for (const JobAssignment& job : master.agentAnswer().told.jobs) {
    if (job.job.id == jobId(2)) {
      EXPECT_EQ(job.tasks.at(0).delay, kTimeout);
    }
  }
}

}  // namespace tarcil::monitors_test
