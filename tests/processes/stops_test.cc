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
  ::kill(supervisor, SIGKILL);
  cluster.json({"up", "--detach", "--rus", "1"});  // waits for the monitor that is ending
  expectStartedAgain(cluster, traces, job);
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
