// Clusters whose processes are on hosts of their own, joined by a network that fails: rows of
// docs/protocol.md, "What breaks".
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/support/cluster.h"

namespace tarcil::network_test {

using testing::UnorderedElementsAre;
using namespace std::chrono_literals;

Json agentNamed(const TestCluster& cluster, const std::string& name) {
  for (const Json& agent : cluster.json({"agent", "list"})) {
    if (agent["name"] == name) return agent;
  }
  return {};
}

// The server of task 0.
std::string serverOf(const TestCluster& cluster, const std::string& job) {
  return cluster.status(job)["tasks"][0]["server"];
}

TEST(Partition, OfAnAgentGivesItsJobsToAnother) {
  SKIP_WITHOUT_CONTAINERS();
  SKIP_WITHOUT_VIRTUAL_NETWORK();
  VirtualNetwork network({"master", "agent-1", "agent-2", "server-1", "user"});
  ManualCluster cluster({.rus = 1,
                         .agents = 2,
                         .masterFlags = {"--agent-timeout", "100ms"},
                         .notYet = {"agent-2"},
                         .network = &network});
  TraceFolder& traces = cluster.traces();
  const std::string running = cluster.submit(shellJob(traces.note("first") + traces.waitForGate()));
  traces.waitForLines("first", 1);
  const std::string waiting = cluster.submit(shellJob(traces.note("second")));
  cluster.start("agent-2");
  network.cut("agent-1");
  cluster.until("agent-2 has both jobs", [&]() { return agentNamed(cluster, "agent-2")["jobs"] == 2; });
  network.heal("agent-1");
  traces.openGate();
  EXPECT_EQ(cluster.ended(running)["state"], "done");
  EXPECT_EQ(cluster.ended(waiting)["state"], "done");
  cluster.until("agent-1 is back", [&]() { return agentNamed(cluster, "agent-1")["attached"] == true; });
  EXPECT_EQ(cluster.ended(cluster.submit(shellJob(traces.note("third"))))["state"], "done");
  for (const char* once : {"first", "second", "third"}) EXPECT_EQ(traces.lines(once).size(), 1u) << once;
  cluster.expectAllUnitsFree();
}

TEST(Partition, OfAMonitorHasItsTasksStartedElsewhereAndEndsThemWhenItIsBack) {
  SKIP_WITHOUT_CONTAINERS();
  SKIP_WITHOUT_VIRTUAL_NETWORK();
  VirtualNetwork network({"master", "agent-1", "server-1", "server-2", "user"});
  ManualCluster cluster(
      {.servers = 2, .rus = 1, .masterFlags = {"--server-timeout", "100ms"}, .network = &network});
  TraceFolder& traces = cluster.traces();
  const std::string job = cluster.submit(
      shellJob(traces.holdLock() + traces.note("started") + traces.waitForGate() + traces.note("ended")));
  traces.waitForLines("started", 1);
  const std::string first = serverOf(cluster, job);
  network.cut(first);
  traces.waitForLines("started", 2);
  EXPECT_NE(serverOf(cluster, job), first);
  EXPECT_TRUE(traces.isHeld(0)) << "its server does not know yet that the task was given up";

  network.heal(first);
  cluster.until("the first attempt is ended", [&]() { return !traces.isHeld(0); });
  traces.openGate();
  EXPECT_EQ(cluster.ended(job)["state"], "done");
  EXPECT_EQ(traces.lines("started").size(), 2u);
  EXPECT_EQ(traces.lines("ended").size(), 1u);
  cluster.expectAllUnitsFree();
}

TEST(Partition, OfAMonitorNeverLeavesTwoCopiesOfAnExclusiveTask) {
  SKIP_WITHOUT_CONTAINERS();
  SKIP_WITHOUT_VIRTUAL_NETWORK();
  VirtualNetwork network({"master", "agent-1", "server-1", "server-2", "user"});
  ManualCluster cluster(
      {.servers = 2, .rus = 1, .masterFlags = {"--server-timeout", "3s"}, .network = &network});
  TraceFolder& traces = cluster.traces();
  const std::string job = cluster.submit(
      shellJob(traces.holdLock() + traces.note("started") + traces.waitForGate(), "exclusive: true\n"));
  traces.waitForLines("started", 1);
  const std::string first = serverOf(cluster, job);
  network.cut(first);
  traces.waitForLines("started", 2);
  EXPECT_NE(serverOf(cluster, job), first);
  EXPECT_FALSE(traces.isHeld(0)) << "the first copy lives on where the master cannot reach it";
  EXPECT_TRUE(traces.lines("overlap").empty());

  network.heal(first);
  traces.openGate();
  EXPECT_EQ(cluster.ended(job)["state"], "done");
  EXPECT_TRUE(traces.lines("overlap").empty());
  cluster.expectAllUnitsFree();
}

// The shim, which would end the task with its lease, is stopped: so the task's init has to.
TEST(Partition, OfAMonitorWhoseShimIsStoppedLeavesNoTwoCopiesEither) {
  SKIP_WITHOUT_CONTAINERS();
  SKIP_WITHOUT_VIRTUAL_NETWORK();
  VirtualNetwork network({"master", "agent-1", "server-1", "server-2", "user"});
  ManualCluster cluster(
      {.servers = 2, .rus = 1, .masterFlags = {"--server-timeout", "3s"}, .network = &network});
  TraceFolder& traces = cluster.traces();
  const std::string job = cluster.submit(
      shellJob(traces.holdLock() + traces.note("started") + traces.waitForGate(), "exclusive: true\n"));
  traces.waitForLines("started", 1);
  const std::string first = serverOf(cluster, job);
  const std::vector<pid_t> shims = cluster.shimsOf(first);
  ASSERT_EQ(shims.size(), 1u);
  network.cut(first);
  ::kill(shims[0], SIGSTOP);
  traces.waitForLines("started", 2);
  EXPECT_FALSE(traces.isHeld(0)) << "the first copy lives on where nobody ends it";
  EXPECT_TRUE(traces.lines("overlap").empty());

  network.heal(first);
  ::kill(shims[0], SIGCONT);
  traces.openGate();
  EXPECT_EQ(cluster.ended(job)["state"], "done");
  EXPECT_TRUE(traces.lines("overlap").empty());
  EXPECT_EQ(traces.lines("started").size(), 2u);
  cluster.expectAllUnitsFree();
}

TEST(Partition, OfTheMasterLosesNothing) {
  SKIP_WITHOUT_CONTAINERS();
  SKIP_WITHOUT_VIRTUAL_NETWORK();
  VirtualNetwork network({"master", "agent-1", "server-1", "user"});
  ManualCluster cluster({.rus = 2, .network = &network});
  TraceFolder& traces = cluster.traces();
  const std::string job = cluster.submit(
      shellJob(traces.note("started") + traces.waitForGate() + traces.note("ended"), "tasks: 2\n"));
  traces.waitForLines("started", 2);
  network.cut("master");
  traces.openGate();
  traces.waitForLines("ended", 2);
  cluster.until("the monitor misses the master",
                [&]() { return cluster.logOf("server-1").find("is out of reach") != std::string::npos; });
  network.heal("master");
  EXPECT_EQ(cluster.ended(job)["state"], "done");
  EXPECT_THAT(traces.lines("started"), UnorderedElementsAre("0", "1"));
  cluster.expectAllUnitsFree();
}

TEST(PoorNetwork, OfDelaysAndLossesStillHasEverythingDone) {
  SKIP_WITHOUT_CONTAINERS();
  SKIP_WITHOUT_VIRTUAL_NETWORK();
  VirtualNetwork network({"master", "agent-1", "agent-2", "server-1", "server-2", "user"});
  ManualCluster cluster({.servers = 2, .rus = 2, .agents = 2, .network = &network});
  network.degrade(10ms, 0.05);
  const ProcessResult output = cluster.run({"run", "--", "sh", "-c", "echo one; echo two; exit 3"});
  EXPECT_EQ(output.out, "one\ntwo\n");
  EXPECT_EQ(output.exitCode, 3) << output.err;
  const std::string job = cluster.submit(
      shellJob(cluster.traces().note("ran") + "exit $TARCIL_TASK", "tasks: 6\nconcurrency: 4\n"));
  const Json ended = cluster.ended(job);
  for (const Json& task : ended["tasks"]) EXPECT_EQ(task["exit_code"], task["index"]) << task;
  EXPECT_THAT(cluster.traces().lines("ran"), UnorderedElementsAre("0", "1", "2", "3", "4", "5"));
  cluster.expectAllUnitsFree();
}

}  // namespace tarcil::network_test
