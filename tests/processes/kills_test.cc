// kill -9 of each role while jobs run, with and without somebody who starts it again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cluster.h"

namespace tarcil::kills_test {

using testing::UnorderedElementsAre;

// Says that it runs, waits, says that it ends; task n exits with n.
std::string gatedScript(const TraceFolder& traces) {
  return traces.note("started") + traces.waitForGate() + traces.note("ended") + "exit $TARCIL_TASK";
}

void expectEachExitRecorded(const Json& job) {
  EXPECT_EQ(job["state"], "failed");
  for (const Json& task : job["tasks"]) EXPECT_EQ(task["exit_code"], task["index"]) << task;
}

void expectEachRanOnce(const TraceFolder& traces) {
  EXPECT_THAT(traces.lines("started"), UnorderedElementsAre("0", "1", "2"));
  EXPECT_THAT(traces.lines("ended"), UnorderedElementsAre("0", "1", "2"));
}

TEST(MasterKilled, JobsFinishUnderTheSupervisor) {
  SKIP_WITHOUT_CONTAINERS();
  SupervisedCluster cluster({"--servers", "2", "--rus", "2"});
  const std::string job = cluster.submit(shellJob(gatedScript(cluster.traces()), "tasks: 3\n"));
  cluster.traces().waitForLines("started", 3);
  cluster.kill("master");
  cluster.waitForReturn("master");
  cluster.traces().openGate();
  expectEachExitRecorded(cluster.ended(job));
  expectEachRanOnce(cluster.traces());
  cluster.expectAllUnitsFree();
}

TEST(MasterKilled, ExitsWhileItIsAwayAreRecorded) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.servers = 2, .rus = 2});
  const std::string job = cluster.submit(shellJob(gatedScript(cluster.traces()), "tasks: 3\n"));
  cluster.traces().waitForLines("started", 3);
  cluster.kill("master");
  cluster.traces().openGate();
  cluster.traces().waitForLines("ended", 3);
  cluster.start("master");
  expectEachExitRecorded(cluster.ended(job));
  expectEachRanOnce(cluster.traces());
  cluster.expectAllUnitsFree();
}

TEST(MasterKilled, QueuedJobsRunAfterItsReturn) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 1});
  const std::string first = cluster.submit(shellJob(gatedScript(cluster.traces())));
  const std::string second = cluster.submit("command: ['true']\n");
  cluster.traces().waitForLines("started", 1);
  cluster.kill("master");
  cluster.start("master");
  cluster.traces().openGate();
  EXPECT_EQ(cluster.ended(first)["state"], "done");
  EXPECT_EQ(cluster.ended(second)["state"], "done");
}

TEST(AgentKilled, ClientFailsOverAndGetsItsResult) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2, .agents = 2, .notYet = {"agent-2"}});
  Process client = cluster.startCommand(
      {"submit", "--wait", "--json", cluster.jobFile(shellJob(gatedScript(cluster.traces()), "tasks: 2\n"))});
  cluster.traces().waitForLines("started", 2);
  cluster.start("agent-2");
  cluster.kill("agent-1");
  cluster.traces().openGate();
  const ProcessResult result = client.finish();
  EXPECT_EQ(result.exitCode, 1) << result.err;
  EXPECT_EQ(Json::parse(result.out)["tasks"][1]["exit_code"], 1);
}

TEST(AgentKilled, RunGoesOnWithTheOutput) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2, .agents = 2, .notYet = {"agent-2"}});
  const TraceFolder& traces = cluster.traces();
  Process client = cluster.startCommand(
      {"run", "--", "sh", "-c",
       "echo before; " + traces.note("started") + traces.waitForGate() + "echo after; exit 5"});
  ASSERT_TRUE(client.waitFor("before"));
  cluster.start("agent-2");
  cluster.kill("agent-1");
  traces.openGate();
  const ProcessResult result = client.finish();
  EXPECT_EQ(result.out, "before\nafter\n");
  EXPECT_EQ(result.exitCode, 5) << result.err;
  EXPECT_EQ(traces.lines("started").size(), 1u);
}

TEST(AgentKilled, AnotherTakesOverItsQueuedJob) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 1, .agents = 2, .notYet = {"agent-2"}});
  const std::string first = cluster.submit(shellJob(gatedScript(cluster.traces())));
  cluster.traces().waitForLines("started", 1);
  const std::string second = cluster.submit(shellJob(cluster.traces().note("second")));
  cluster.start("agent-2");
  cluster.kill("agent-1");
  cluster.traces().openGate();
  EXPECT_EQ(cluster.ended(second)["state"], "done");
  EXPECT_EQ(cluster.traces().lines("second").size(), 1u);
  EXPECT_EQ(cluster.ended(first)["state"], "done");
  cluster.expectAllUnitsFree();
}

TEST(AgentKilled, TheSupervisorsNextOneGoesOn) {
  SKIP_WITHOUT_CONTAINERS();
  SupervisedCluster cluster({"--rus", "1"});
  const std::string first = cluster.submit(shellJob(gatedScript(cluster.traces())));
  cluster.traces().waitForLines("started", 1);
  Process client = cluster.startCommand(
      {"submit", "--wait", "--json", cluster.jobFile(shellJob(cluster.traces().note("second")))});
  ASSERT_TRUE(client.waitFor("is accepted"));
  cluster.kill("agent-1");
  cluster.traces().openGate();
  const ProcessResult result = client.finish();
  EXPECT_EQ(result.exitCode, 0) << result.err;
  EXPECT_EQ(cluster.traces().lines("second").size(), 1u);
}

TEST(MonitorKilled, TasksRunOnAndTheirExitsAreReported) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 3});
  const std::string job = cluster.submit(shellJob(gatedScript(cluster.traces()), "tasks: 3\n"));
  cluster.traces().waitForLines("started", 3);
  cluster.kill("server-1");
  cluster.traces().openGate();
  cluster.traces().waitForLines("ended", 3);
  cluster.start("server-1");
  expectEachExitRecorded(cluster.ended(job));
  expectEachRanOnce(cluster.traces());
  cluster.expectAllUnitsFree();
}

TEST(MonitorKilled, ItsSuccessorLooksAfterTheSameProcesses) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 3});
  const TraceFolder& traces = cluster.traces();
  const std::string job =
      cluster.submit(shellJob("echo a-line; " + gatedScript(traces), "tasks: 3\nrestart: {attempts: 2}\n"));
  traces.waitForLines("started", 3);
  cluster.kill("server-1");
  cluster.start("server-1");
  traces.openGate();
  const Json status = cluster.ended(job);
  EXPECT_EQ(status["tasks"][0]["state"], "done");
  EXPECT_EQ(status["tasks"][0]["attempt"], 0);
  EXPECT_EQ(cluster.run({"job", "logs", job, "--task", "0"}).out, "a-line\n");
  cluster.expectAllUnitsFree();
}

TEST(MonitorKilled, ACancelReachesTheTasksOfItsSuccessor) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  const std::string job = cluster.submit(shellJob(gatedScript(cluster.traces()), "grace: 100ms\n"));
  cluster.traces().waitForLines("started", 1);
  cluster.kill("server-1");
  EXPECT_EQ(cluster.run({"job", "cancel", job}).exitCode, 0);
  cluster.start("server-1");
  EXPECT_EQ(cluster.ended(job)["state"], "cancelled");
  EXPECT_TRUE(cluster.traces().lines("ended").empty());
  cluster.expectAllUnitsFree();
}

TEST(AgentKilled, ATaskThatItHadYetToLaunchCanBeCancelled) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 1,
                         .agents = 2,
                         .failing = "agent-1",
                         .failpoint = "agent.before_launch",
                         .staysDead = true,
                         .notYet = {"agent-2"}});
  Process client =
      cluster.startCommand({"submit", "--json", cluster.jobFile(shellJob(gatedScript(cluster.traces())))});
  cluster.waitForFailure();
  cluster.start("agent-2");
  const std::string job = Json::parse(client.finish().out)["job"];
  EXPECT_EQ(cluster.run({"job", "cancel", job}).exitCode, 0);
  EXPECT_EQ(cluster.ended(job)["state"], "cancelled");
  cluster.expectAllUnitsFree();
  cluster.start("agent-1");
  EXPECT_EQ(cluster.run({"run", "--", "true"}).exitCode, 0);
  EXPECT_TRUE(cluster.traces().lines("ended").empty());
}

TEST(EverythingKilled, JobsFinishAfterTheReturn) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 3});
  const std::string job = cluster.submit(shellJob(gatedScript(cluster.traces()), "tasks: 3\n"));
  cluster.traces().waitForLines("started", 3);
  for (const char* name : {"agent-1", "server-1", "master"}) cluster.kill(name);
  cluster.traces().openGate();
  cluster.traces().waitForLines("ended", 3);
  for (const char* name : {"master", "server-1", "agent-1"}) cluster.start(name);
  expectEachExitRecorded(cluster.ended(job));
  expectEachRanOnce(cluster.traces());
  cluster.expectAllUnitsFree();
}

}  // namespace tarcil::kills_test
