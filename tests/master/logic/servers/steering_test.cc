// Servers that operators cordon and drain.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/master/master_harness.h"

namespace tarcil::steering_test {

using namespace master;
using testing::ElementsAre;
using testing::IsEmpty;

TaskEnd stopped() {
  TaskEnd end;
  end.cause = EndCause::kCancelled;
  end.signal = 15;
  return end;
}

// Job 1 of alice runs on server a; server b is free.
struct Steering : testing::Test {
  MasterHarness master;
  SessionId monitor = master.attachMonitor("m", {serverFacts("a", 4), serverFacts("b", 4)});
  SessionId agent = master.attachAgent("x");
  AllocationId running = placed(1);

  AllocationId placed(int number) {
    Commit commit = newJob(number, spec());
    commit.claims = {claim(0, 0)};
    const AllocationId allocation = master.place(agent, commit);
    master.started(monitor, allocation);
    return allocation;
  }
  Verdict verdictOn(ServerId server, int number) {
    Commit commit = newJob(number, spec());
    commit.claims = {claim(0, server)};
    return master.commit(agent, commit).grants.at(0).verdict;
  }
  ServerView view() { return *master.logic().server("a"); }
};

TEST_F(Steering, ACordonKeepsNewTasksAwayAndLeavesTheOthers) {
  const auto actions = master.steer("a", ServerChange::kCordon);
  EXPECT_THAT(only<StopTask>(actions), IsEmpty());
  EXPECT_TRUE(only<PublishServer>(actions).at(0).update.status.cordoned);
  EXPECT_EQ(verdictOn(0, 2), Verdict::kCordoned);
  EXPECT_EQ(verdictOn(1, 3), Verdict::kGranted);
  EXPECT_EQ(master.stateOf(1), RunState::kRunning);
  EXPECT_EQ(view().reason, "cordoned by root");
  EXPECT_EQ(view().refusedClaims, 1u);
}

TEST_F(Steering, ACordonOutlivesTheMaster) {
  master.steer("a", ServerChange::kCordon);
  master.restart();
  EXPECT_TRUE(master.status("a").cordoned);
  EXPECT_EQ(view().reason, "cordoned by root");
  master.steer("a", ServerChange::kUncordon);
  master.restart();
  EXPECT_FALSE(master.status("a").cordoned);
  EXPECT_EQ(view().reason, "");
}

TEST_F(Steering, OneUnknownServerAndNothingIsChanged) {
  const auto actions = master.handle(ServersSteered{7, theOperator(), {"a", "z"}, ServerChange::kCordon, {}});
  EXPECT_EQ(only<Answer>(actions).at(0).status.error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(master.status("a").cordoned);
}

TEST_F(Steering, ADrainSendsTasksElsewhereWithoutUsingUpAttempts) {
  const auto actions = master.steer("a", ServerChange::kDrain);
  ASSERT_EQ(only<StopTask>(actions).size(), 1u);
  EXPECT_EQ(only<StopTask>(actions)[0].allocation, running);
  EXPECT_TRUE(view().draining);
  const auto assigned = only<AssignJob>(master.ended(monitor, running, stopped()));
  EXPECT_EQ(assigned.at(0).assignment.tasks.at(0).state, RunState::kQueued);
  EXPECT_EQ(assigned.at(0).assignment.tasks.at(0).delay, Duration::zero());
  EXPECT_EQ(master.stateOf(1), RunState::kQueued);
  EXPECT_EQ(master.task(1, 0).failures, 0u);
  EXPECT_EQ(master.task(1, 0).attempt, 1u);
  EXPECT_EQ(master.task(1, 0).previous, "was stopped: server drained (a)");
  EXPECT_THAT(view().tasks, IsEmpty());
}

TEST_F(Steering, ADrainedTaskThatFailsElsewhereFails) {
  master.steer("a", ServerChange::kDrain);
  master.ended(monitor, running, stopped());
  Commit again = moreFor(1);
  again.claims = {claim(0, 1)};
  again.claims[0].attempt = 1;
  master.ended(monitor, master.place(agent, again), exitedWith(1));
  EXPECT_EQ(master.stateOf(1), RunState::kFailed) << "this time nobody wanted it to go elsewhere";
}

TEST_F(Steering, ATaskThatEndsByItselfMeanwhileIsOver) {
  const AllocationId failing = placed(2);
  master.steer("a", ServerChange::kDrain);
  master.ended(monitor, running, exitedWith(0));
  master.ended(monitor, failing, exitedWith(1));
  EXPECT_EQ(master.stateOf(1), RunState::kDone);
  EXPECT_EQ(master.stateOf(2), RunState::kFailed);
}

TEST_F(Steering, AJobCancelledMeanwhileIsCancelled) {
  master.steer("a", ServerChange::kDrain);
  master.cancel(1, user("alice"));
  master.ended(monitor, running, stopped());
  EXPECT_EQ(master.stateOf(1), RunState::kCancelled);
}

TEST_F(Steering, ADrainMayBeRepeated) {
  master.steer("a", ServerChange::kDrain);
  const auto again = master.steer("a", ServerChange::kDrain);
  EXPECT_EQ(only<StopTask>(again).size(), 1u) << "asked again: the first may have been lost";
  EXPECT_THAT(only<PublishServer>(again), IsEmpty());
  master.ended(monitor, running, stopped());
  EXPECT_THAT(only<StopTask>(master.steer("a", ServerChange::kDrain)), IsEmpty());
}

TEST_F(Steering, ADrainGoesOnAfterTheDeathOfTheMaster) {
  master.steer("a", ServerChange::kDrain);
  master.restart();
  monitor = master.attachMonitor("m", {serverFacts("a", 4), serverFacts("b", 4)}, {{running, "a"}});
  EXPECT_THAT(master.monitorAnswer().stop, ElementsAre(running));
  master.ended(monitor, running, stopped());
  EXPECT_EQ(master.stateOf(1), RunState::kQueued);
  EXPECT_TRUE(view().draining);
}

TEST_F(Steering, ADeadlineLeavesTasksUntilThen) {
  EXPECT_THAT(only<StopTask>(master.steer("a", ServerChange::kDrain, std::chrono::seconds(30))), IsEmpty());
  EXPECT_TRUE(master.status("a").cordoned);
  EXPECT_EQ(view().drainAt, master.now().wall + std::chrono::seconds(30));
  EXPECT_THAT(only<StopTask>(master.pass(std::chrono::seconds(29))), IsEmpty());
  EXPECT_EQ(only<StopTask>(master.pass(std::chrono::seconds(1))).size(), 1u);
  master.ended(monitor, running, stopped());
  EXPECT_EQ(master.stateOf(1), RunState::kQueued);
}

TEST_F(Steering, ADeadlineRunsOnWhileTheMasterIsAway) {
  master.steer("a", ServerChange::kDrain, std::chrono::seconds(30));
  master.pass(std::chrono::seconds(20));
  master.restart();
  monitor = master.attachMonitor("m", {serverFacts("a", 4), serverFacts("b", 4)}, {{running, "a"}});
  EXPECT_THAT(master.monitorAnswer().stop, IsEmpty());
  EXPECT_EQ(only<StopTask>(master.pass(std::chrono::seconds(10))).size(), 1u);
}

TEST_F(Steering, AnUncordonEndsADrainBeforeItsDeadline) {
  master.steer("a", ServerChange::kDrain, std::chrono::seconds(30));
  master.steer("a", ServerChange::kUncordon);
  EXPECT_THAT(only<StopTask>(master.pass(std::chrono::minutes(1))), IsEmpty());
  EXPECT_FALSE(view().draining);
  EXPECT_EQ(verdictOn(0, 2), Verdict::kGranted);
}

// --- Removing ---------------------------------------------------------------------------------------------

struct Removing : Steering {
  Status steered(const std::string& name, ServerChange change) {
    const auto actions = master.handle(ServersSteered{7, theOperator(), {name}, change, {}});
    return only<Answer>(actions).at(0).status;
  }
  Status remove(const std::string& name) { return steered(name, ServerChange::kRemove); }
  std::vector<std::string> names() {
    std::vector<std::string> names;
    for (const ServerView& server : master.logic().servers()) names.push_back(server.facts.name);
    return names;
  }
  void comeBack() { monitor = master.attachMonitor("m", {serverFacts("a", 4), serverFacts("b", 4)}); }
};

TEST_F(Removing, IsRefusedWhileTheServerIsUpOrMayRunTasks) {
  EXPECT_EQ(remove("b").error().message, "server b is up, and would come back: stop its monitor first");
  master.detach(monitor);
  EXPECT_EQ(remove("a").error().message,
            "server a may still run tasks (1), which count as lost once it was out of reach for 1m "
            "(--server-timeout): remove it then");
  EXPECT_TRUE(remove("b").ok());
  master.pass(MasterOptions().serverTimeout);
  EXPECT_TRUE(remove("a").ok());
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(Removing, HoldsUntilItsMonitorAttachesThroughRestartsToo) {
  master.detach(monitor);
  EXPECT_TRUE(remove("b").ok());
  EXPECT_TRUE(remove("b").ok()) << "the answer may have been lost";
  EXPECT_EQ(remove("z").error().code, ErrorCode::kNotFound);
  for (int start = 0; start < 2; ++start) {
    EXPECT_THAT(names(), ElementsAre("a"));
    EXPECT_TRUE(master.logic().snapshot().at(1).status.removed);
    EXPECT_TRUE(steered("b", ServerChange::kUncordon).ok()) << "it comes back so";
    master.restart();
  }
  comeBack();
  EXPECT_THAT(names(), ElementsAre("a", "b"));
  EXPECT_FALSE(master.status("b").removed);
  agent = master.attachAgent("x");
  EXPECT_EQ(verdictOn(1, 2), Verdict::kGranted);
  master.restart();
  EXPECT_THAT(names(), ElementsAre("a", "b"));
}

TEST_F(Removing, HappensByItselfToAServerThatIsDownForLong) {
  master.detach(monitor);
  master.pass(MasterOptions().serverTimeout);
  master.pass(MasterOptions().removeDownServersAfter - std::chrono::seconds(1));
  EXPECT_THAT(names(), ElementsAre("a", "b"));
  const auto actions = master.pass(std::chrono::seconds(1));
  EXPECT_EQ(only<PublishServer>(actions).size(), 2u);
  EXPECT_THAT(names(), IsEmpty());
  master.restart();
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(Removing, DoesNotHappenToAServerThatCameBack) {
  master.detach(monitor);
  master.pass(MasterOptions().serverTimeout);
  comeBack();
  master.pass(2 * MasterOptions().removeDownServersAfter);
  EXPECT_THAT(names(), ElementsAre("a", "b"));
}

TEST_F(Removing, LeavesThePlatformToTheOtherServers) {
  master.detach(monitor);
  EXPECT_EQ(master.logic().load().monitors, 0u);
  EXPECT_TRUE(remove("b").ok());
  auto other = serverFacts("b", 4);
  other.platform = "other";
  monitor = master.attachMonitor("m2", {other});
  EXPECT_EQ(master.logic().server("b")->facts.platform, "other") << "another machine may take its name";
}

}  // namespace tarcil::steering_test
