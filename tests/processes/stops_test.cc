// Roles that are stopped and do not die, and servers and clusters that are shut down with their tasks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>

#include "tests/support/cluster.h"

namespace tarcil::stops_test {

using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

// --- Stopped (SIGSTOP) ------------------------------------------------------------------------------------

TEST(MonitorStopped, ItsServerIsDownUntilItGoesOn) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 1});
  const auto isUp = [&cluster]() { return cluster.json({"server", "list"})[0]["state"] == "up"; };
  ASSERT_TRUE(isUp());
  cluster.signal("server-1", SIGSTOP);
  cluster.until("the server is down", [&]() { return !isUp(); });
  const std::string job = cluster.submit("command: ['true']\n");
  cluster.signal("server-1", SIGCONT);
  EXPECT_EQ(cluster.ended(job)["state"], "done");
}

TEST(AgentStopped, AnotherTakesOverItsQueuedJobAndItsClients) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 1, .agents = 2, .notYet = {"agent-2"}});
  const TraceFolder& traces = cluster.traces();
  const std::string first = cluster.submit(shellJob(traces.note("started") + traces.waitForGate()));
  ASSERT_TRUE(traces.waitForLines("started", 1));
  Process client =
      cluster.startCommand({"submit", "--wait", "--json", cluster.jobFile(shellJob(traces.note("second")))});
  ASSERT_TRUE(client.waitFor("is accepted"));
  cluster.start("agent-2");
  cluster.signal("agent-1", SIGSTOP);
  traces.openGate();
  const ProcessResult result = client.finish();
  cluster.signal("agent-1", SIGCONT);
  EXPECT_EQ(result.exitCode, 0) << result.err;
  EXPECT_THAT(traces.lines("second"), SizeIs(1));
}

TEST(MasterStopped, JobsGoOnWhenItGoesOn) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 1});
  cluster.signal("master", SIGSTOP);
  Process client = cluster.startCommand({"job", "list"});
  EXPECT_EQ(client.finish().exitCode, 3) << "it waits no longer than it says";
  cluster.signal("master", SIGCONT);
  EXPECT_EQ(cluster.run({"run", "--", "true"}).exitCode, 0);
}

TEST(MonitorStopped, ItsTasksAreStartedElsewhereAndEndWhenItGoesOn) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.servers = 2, .rus = 1, .masterFlags = {"--server-timeout", "100ms"}});
  const TraceFolder& traces = cluster.traces();
  const std::string job = cluster.submit(
      shellJob(traces.holdLock() + traces.note("started") + traces.waitForGate() + traces.note("ended")));
  ASSERT_TRUE(traces.waitForLines("started", 1));
  const std::string first = cluster.status(job)["tasks"][0]["server"];
  cluster.signal(first, SIGSTOP);
  ASSERT_TRUE(traces.waitForLines("started", 2));
  EXPECT_TRUE(traces.isHeld(0)) << "nobody has told it that its server is given up";
  cluster.signal(first, SIGCONT);
  cluster.until("the first attempt is ended", [&traces]() { return !traces.isHeld(0); });
  traces.openGate();
  EXPECT_EQ(cluster.ended(job)["state"], "done");
  EXPECT_THAT(traces.lines("started"), SizeIs(2));
  EXPECT_THAT(traces.lines("ended"), SizeIs(1));
  cluster.expectAllUnitsFree();
}

// The launch waits in its socket while it is stopped.
TEST(MonitorStopped, AnExclusiveTaskThatItHadYetToStartRunsElsewhereAlone) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.servers = 2, .rus = 1, .masterFlags = {"--server-timeout", "1s"}});
  const TraceFolder& traces = cluster.traces();
  cluster.signal("server-1", SIGSTOP);
  const std::string job =
      cluster.submit(shellJob(traces.holdLock() + traces.note("started") + traces.waitForGate(),
                              "exclusive: true\nplacement: {prefer: [server-1]}\n"));
  ASSERT_EQ(cluster.status(job)["tasks"][0]["server"], "server-1");
  ASSERT_TRUE(traces.waitForLines("started", 1));
  cluster.signal("server-1", SIGCONT);
  // The other server has no room.
  EXPECT_EQ(cluster.run({"run", "--", "true"}).exitCode, 0);
  traces.openGate();
  EXPECT_EQ(cluster.ended(job)["state"], "done");
  EXPECT_THAT(traces.lines("started"), SizeIs(1));
  EXPECT_THAT(traces.lines("overlap"), SizeIs(0));
  cluster.expectAllUnitsFree();
}

// It reads what it was sent before it hears that its jobs are another's.
TEST(AgentStopped, WhatItGoesOnWithIsRefused) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster(
      {.rus = 1, .agents = 2, .masterFlags = {"--agent-timeout", "100ms"}, .notYet = {"agent-2"}});
  const TraceFolder& traces = cluster.traces();
  const auto agent = [&cluster](const std::string& name) -> Json {
    for (const Json& one : cluster.json({"agent", "list"}))
      if (one["name"] == name) return one;
    return {};
  };
  std::vector<std::string> jobs = {cluster.submit(shellJob(traces.note("first") + traces.waitForGate()))};
  ASSERT_TRUE(traces.waitForLines("first", 1));
  jobs.push_back(cluster.submit(shellJob(traces.note("second"))));
  cluster.start("agent-2");
  cluster.signal("agent-1", SIGSTOP);
  // Each begins with an agent by chance.
  const std::string file = cluster.jobFile(shellJob(traces.note("third")));
  const auto submit = [&cluster, &file]() { return cluster.startCommand({"submit", "--json", file}); };
  Process clients[] = {submit(), submit(), submit(), submit(), submit()};
  for (Process& client : clients) jobs.push_back(Json::parse(client.finish().out)["job"]);
  cluster.until("agent-2 has all jobs", [&]() { return agent("agent-2")["jobs"] == jobs.size(); });
  cluster.signal("agent-1", SIGCONT);
  cluster.until("agent-1 is back", [&]() { return agent("agent-1")["attached"] == true; });
  traces.openGate();
  for (const std::string& job : jobs) EXPECT_EQ(cluster.ended(job)["state"], "done");
  EXPECT_THAT(traces.lines("first"), SizeIs(1));
  EXPECT_THAT(traces.lines("second"), SizeIs(1));
  EXPECT_THAT(traces.lines("third"), SizeIs(std::size(clients)));
  cluster.expectAllUnitsFree();
}

TEST(MasterStopped, WhatHappenedMeanwhileIsRecordedOnce) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.servers = 2, .rus = 1});
  const TraceFolder& traces = cluster.traces();
  const std::string job = cluster.submit(
      shellJob(traces.note("started") + traces.waitForGate() + traces.note("ended"), "tasks: 2\n"));
  ASSERT_TRUE(traces.waitForLines("started", 2));
  const std::string waiting = cluster.submit(shellJob(traces.note("waiting")));
  cluster.signal("master", SIGSTOP);
  traces.openGate();
  ASSERT_TRUE(traces.waitForLines("ended", 2));
  for (const char* name : {"agent-1", "server-1", "server-2"}) {
    cluster.until(std::string(name) + " misses the master",
                  [&]() { return cluster.logOf(name).find("is out of reach") != std::string::npos; });
  }
  cluster.signal("master", SIGCONT);
  EXPECT_EQ(cluster.ended(job)["state"], "done");
  EXPECT_EQ(cluster.ended(waiting)["state"], "done");
  EXPECT_THAT(traces.lines("started"), SizeIs(2));
  EXPECT_THAT(traces.lines("waiting"), SizeIs(1));
  cluster.expectAllUnitsFree();
}

// --- Shut down (SIGTERM, tarcil down) ---------------------------------------------------------------------

// Says that it was started, and that it was asked to end.
std::string obedient(const TraceFolder& traces) {
  return "trap '" + traces.note("asked") + "exit 0' TERM; " + traces.note("started") + traces.waitForGate();
}
// What is asked of it shows that a shutdown is no loss.
constexpr const char* kOnce = "restart: {attempts: 0, on_lost: false}\n";

void expectStartedAgain(const TestCluster& cluster, const TraceFolder& traces, const std::string& job) {
  ASSERT_TRUE(traces.waitForLines("started", 2));
  EXPECT_THAT(traces.lines("asked"), SizeIs(1));
  traces.openGate();
  const Json ended = cluster.ended(job);
  EXPECT_EQ(ended["state"], "done") << ended;
  // A monitor that can tell nobody any more writes down that it was stopped, and not why.
  EXPECT_THAT(ended["tasks"][0]["previous"].get<std::string>(), StartsWith("was stopped"));
}

TEST(ClusterShutDown, GivesTasksTheirGraceAndStartsThemAgain) {
  SKIP_WITHOUT_CONTAINERS();
  SupervisedCluster cluster({"--rus", "1"});
  const TraceFolder& traces = cluster.traces();
  const std::string job = cluster.submit(shellJob(obedient(traces), kOnce));
  ASSERT_TRUE(traces.waitForLines("started", 1));
  EXPECT_EQ(cluster.run({"down"}).exitCode, 0);
  EXPECT_THAT(traces.lines("asked"), SizeIs(1));
  cluster.json({"up", "--detach", "--rus", "1"});
  expectStartedAgain(cluster, traces, job);
}

TEST(ClusterShutDown, GoesOnWhereItsSupervisorIsKilled) {
  SKIP_WITHOUT_CONTAINERS();
  SupervisedCluster cluster({"--rus", "1"});
  const TraceFolder& traces = cluster.traces();
  const std::string job = cluster.submit(shellJob(obedient(traces), kOnce));
  ASSERT_TRUE(traces.waitForLines("started", 1));
  pid_t supervisor = 0;
  std::ifstream(cluster.data() + "/run/supervisor") >> supervisor;
  ASSERT_GT(supervisor, 0);
  killAndAwaitEnd(supervisor);
  cluster.json({"up", "--detach", "--rus", "1"});  // waits for the monitor that is ending
  expectStartedAgain(cluster, traces, job);
}

// As a machine does that is shut down: everything is asked to end at once, and tasks may be the first.
TEST(ClusterShutDown, GoesOnWhereTheMachineIsStopped) {
  SKIP_WITHOUT_CONTAINERS();
  SupervisedCluster cluster({"--rus", "2"});
  const TraceFolder& traces = cluster.traces();
  const std::string job = cluster.submit(shellJob(obedient(traces), kOnce));
  ASSERT_TRUE(traces.waitForLines("started", 1));
  ::kill(cluster.pidOf("server-1"), SIGSTOP);
  for (const pid_t shim : cluster.shimsOf("server-1")) ::kill(shim, SIGTERM);
  ASSERT_TRUE(traces.waitForLines("asked", 1));
  for (const char* role : {"master", "agent-1", "server-1"}) ::kill(cluster.pidOf(role), SIGTERM);
  ::kill(cluster.pidOf("server-1"), SIGCONT);
  EXPECT_EQ(cluster.run({"down"}).exitCode, 0);
  cluster.json({"up", "--detach", "--rus", "2"});
  traces.openGate();
  const Json ended = cluster.ended(job);
  EXPECT_EQ(ended["state"], "done") << ended;
  EXPECT_THAT(ended["tasks"][0]["previous"].get<std::string>(), StartsWith("was stopped"));
}

TEST(ClusterShutDown, SaysThatItWaitsAndForHowLong) {
  SKIP_WITHOUT_CONTAINERS();
  SupervisedCluster cluster({"--rus", "1", "--stop-grace", "2s"});
  const TraceFolder& traces = cluster.traces();
  cluster.submit(shellJob("trap '' TERM; " + traces.note("started") + traces.waitForGate(), "grace: 1h\n"));
  ASSERT_TRUE(traces.waitForLines("started", 1));
  const ProcessResult down = cluster.run({"down"});
  EXPECT_EQ(down.exitCode, 0);
  EXPECT_THAT(down.err, HasSubstr("waiting for tasks to end, at most 2s"));
}

TEST(ServerShutDown, ItsTasksGoElsewhere) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.servers = 2, .rus = 1});
  const TraceFolder& traces = cluster.traces();
  const std::string job = cluster.submit(shellJob(obedient(traces), kOnce));
  ASSERT_TRUE(traces.waitForLines("started", 1));
  const std::string server = cluster.status(job)["tasks"][0]["server"];
  cluster.signal(server, SIGTERM);
  EXPECT_EQ(cluster.endOf(server).exitCode, 0);
  expectStartedAgain(cluster, traces, job);
  EXPECT_NE(cluster.status(job)["tasks"][0]["server"], server);
}

// --- More than one message takes --------------------------------------------------------------------------

TEST(MasterKilled, AgentsAttachWithMoreJobsThanOneMessageTakes) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 1});
  const TraceFolder& traces = cluster.traces();
  const std::string first = cluster.submit(shellJob(traces.note("started") + traces.waitForGate()));
  ASSERT_TRUE(traces.waitForLines("started", 1));
  constexpr size_t kJobs = 30;
  const std::string large = "env: {DATA: " + std::string(110'000, 'x') + "}\n";
  std::vector<std::string> jobs;
  for (size_t i = 0; i < kJobs; ++i) jobs.push_back(cluster.submit(shellJob(traces.note("large"), large)));
  cluster.kill("master");
  cluster.start("master");
  traces.openGate();
  for (const std::string& job : jobs) EXPECT_EQ(cluster.ended(job)["state"], "done");
  EXPECT_THAT(traces.lines("large"), SizeIs(kJobs));
}

}  // namespace tarcil::stops_test
