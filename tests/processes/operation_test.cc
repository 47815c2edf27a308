// What operators do with a running cluster, and what users feel of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "rpc/token.h"
#include "tests/support/cluster.h"

namespace tarcil::operation_test {

using testing::HasSubstr;

// The servers of a cluster that emulates them.
std::string serversFile(const TraceFolder& folder, int servers, int rus) {
  folder.write("servers.yaml", "servers: [{name: \"s{n}\", count: " + std::to_string(servers) +
                                   ", rus: " + std::to_string(rus) + "}]\n");
  return folder.at("servers.yaml");
}

// --- Draining ---------------------------------------------------------------------------------------------

// Runs until the gate is open; asked to end before that, it says so and stays until the gate is open.
std::string stubborn(const TraceFolder& traces) {
  return "trap '" + traces.note("asked") + traces.waitForGate() + "exit 1' TERM; " + traces.note("started") +
         traces.waitForGate();
}

TEST(Drain, MovesATaskWithoutUsingUpItsRestartsThoughTheMasterDiesMeanwhile) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.servers = 2, .rus = 1});
  const TraceFolder& traces = cluster.traces();
  const std::string job = cluster.submit(shellJob(stubborn(traces), "grace: 60s\n"));
  ASSERT_TRUE(traces.waitForLines("started", 1));
  const std::string server = cluster.status(job)["tasks"][0]["server"];
  Process drain = cluster.startCommand({"server", "drain", "--wait", server});
  ASSERT_TRUE(traces.waitForLines("asked", 1));
  cluster.kill("master");
  cluster.start("master");
  traces.openGate();
  const ProcessResult drained = drain.finish();
  EXPECT_EQ(drained.exitCode, 0) << drained.err;
  EXPECT_THAT(drained.err, HasSubstr(server + ": 1 task left"));
  EXPECT_THAT(drained.err, HasSubstr(server + ": empty"));
  const Json ended = cluster.ended(job);
  EXPECT_EQ(ended["state"], "done") << ended;
  EXPECT_NE(ended["tasks"][0]["server"], server);
  EXPECT_EQ(ended["tasks"][0]["attempt"], 1);
  EXPECT_EQ(ended["tasks"][0]["previous"], "was stopped: server drained (" + server + ")");
  EXPECT_EQ(cluster.json({"server", "show", server})["state"], "drained");
  EXPECT_EQ(cluster.run({"server", "uncordon", server}).exitCode, 0);
  cluster.expectAllUnitsFree();
}

TEST(Cordon, KeepsTasksAwayUntilItIsUndone) {
  TraceFolder folder;
  ManualCluster cluster({.emulate = serversFile(folder, 1, 2)});
  EXPECT_EQ(cluster.run({"server", "cordon", "s1"}).exitCode, 0);
  const std::string job = cluster.submit("command: ['true']\n");
  cluster.kill("master");
  cluster.start("master");
  cluster.until("the server is cordoned again", [&]() {
    return cluster.json({"server", "list"})[0]["state"] == "cordoned";
  });
  EXPECT_EQ(cluster.status(job)["state"], "queued");
  EXPECT_EQ(cluster.run({"server", "uncordon", "s1"}).exitCode, 0);
  EXPECT_EQ(cluster.ended(job)["state"], "done");
}

TEST(ClusterStatus, CountsServersUnitsAgentsAndJobs) {
  TraceFolder folder;
  ManualCluster cluster({.emulate = serversFile(folder, 2, 2)});
  EXPECT_EQ(cluster.run({"server", "cordon", "s1"}).exitCode, 0);
  const std::string running = cluster.submit("command: [x]\nenv: {TARCIL_EMULATE_SECONDS: \"3600\"}\n");
  const std::string held = cluster.submit("command: [x]\nhold: true\n");
  const std::string cancelled = cluster.submit("command: [x]\nhold: true\n");
  EXPECT_EQ(cluster.run({"job", "cancel", cancelled}).exitCode, 0);
  cluster.until("it runs", [&]() { return cluster.status(running)["state"] == "running"; });
  const Json status = cluster.json({"status"});
  EXPECT_EQ(status["servers"], (Json{{"cordoned", 1}, {"up", 1}}));
  EXPECT_EQ(status["units"], 4);
  EXPECT_EQ(status["free_units"], 1);
  EXPECT_EQ(status["agents"], (Json{{"attached", 1}}));
  EXPECT_EQ(status["jobs"], (Json{{"queued", 1}, {"running", 1}}));
  EXPECT_EQ(status["ended_badly"], (Json{{"cancelled", 1}}));
  EXPECT_THAT(cluster.run({"status"}).out,
              HasSubstr("Units           = 1 of 4 free where servers take tasks\n"));
}

TEST(Steering, IsNotForUsers) {
  TraceFolder folder;
  const std::string token = makeToken();
  ASSERT_TRUE(writeTokenFile(folder.at("token"), token).ok());
  ManualCluster cluster(
      {.emulate = serversFile(folder, 1, 2), .moreTokens = token + " mallory submit nobody\n"});
  for (const char* verb : {"cordon", "uncordon", "drain", "remove"}) {
    const ProcessResult result =
        cluster.run({"server", verb, "s1"}, {{"TARCIL_TOKEN_FILE", folder.at("token")}});
    EXPECT_EQ(result.exitCode, 3) << verb;
    EXPECT_THAT(result.err, HasSubstr("role operate")) << verb;
  }
  EXPECT_EQ(cluster.run({"server", "cordon", "nowhere"}).exitCode, 1);
  EXPECT_EQ(cluster.json({"server", "list"})[0]["state"], "up");
}

// --- Removing ---------------------------------------------------------------------------------------------

TEST(Removing, AServerThatIsGoneCountsForNoJobUntilItIsBack) {
  TraceFolder folder;
  ManualCluster cluster({.emulate = serversFile(folder, 1, 2), .masterFlags = {"--server-timeout", "100ms"}});
  EXPECT_THAT(cluster.run({"server", "remove", "s1"}).err, HasSubstr("s1 is up"));
  cluster.kill("emulated");
  cluster.until("the server can be removed", [&]() {
    return cluster.run({"server", "remove", "s1"}).exitCode == 0;
  });
  EXPECT_EQ(cluster.json({"server", "list"}), Json::array());
  EXPECT_EQ(cluster.run({"server", "show", "s1"}).exitCode, 1);
  cluster.until("the agent has heard of it", [&]() {
    return cluster.run({"run", "--", "true"}).err.find("the cluster has no servers yet") != std::string::npos;
  });
  cluster.kill("master");
  cluster.start("master");
  EXPECT_EQ(cluster.json({"server", "list"}), Json::array());
  cluster.start("emulated");
  cluster.until("the server is back", [&]() { return cluster.json({"server", "list"}).size() == 1; });
  cluster.until("the agent has heard of it", [&]() {
    return cluster.run({"run", "--", "true"}).exitCode == 0;
  });
}

// --- Quarantine -------------------------------------------------------------------------------------------

// Where the monitor keeps its tasks there is a file for a while, so that it cannot start any.
class BrokenServer {
 public:
  explicit BrokenServer(const std::string& monitor) : tasks_(monitor + "/tasks") {
    std::filesystem::rename(tasks_, tasks_ + ".away");
    std::ofstream(tasks_) << "";
  }
  void mend() const {
    std::filesystem::remove(tasks_);
    std::filesystem::rename(tasks_ + ".away", tasks_);
  }

 private:
  const std::string tasks_;
};

TEST(Quarantine, KeepsTasksAwayFromAServerThatCannotStartThemUntilItIsMended) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.servers = 2, .rus = 1, .masterFlags = {"--quarantine-after", "2"}});
  const BrokenServer broken(cluster.data() + "/monitors/server-1");
  const std::string job =
      cluster.submit("command: ['true']\ntasks: 6\nconcurrency: 2\nrestart: {attempts: 50, backoff: 10ms}\n");
  EXPECT_EQ(cluster.ended(job)["state"], "done");
  const std::string there =
      "command: ['true']\nplacement: {constraints: [\"server = server-1\"]}\n"
      "restart: {attempts: 50, backoff: 10ms}\n";
  const std::string waiting = cluster.submit(there);
  cluster.until("server-1 is set aside", [&]() {
    return cluster.json({"server", "show", "server-1"})["state"] == "quarantined";
  });
  const std::string reason = cluster.json({"server", "show", "server-1"})["reason"];
  EXPECT_THAT(reason, HasSubstr("set aside after 2 tasks that could not be started; the last: "));
  EXPECT_EQ(cluster.json({"server", "show", "server-1"})["failed_launches"], 2);
  EXPECT_EQ(cluster.json({"server", "show", "server-2"})["state"], "up");
  cluster.until("the job says so", [&]() {
    return cluster.status(waiting)["reason"] ==
           "no server that suits it takes tasks: 1 is quarantined, as tasks could not be started there; it "
           "is tried "
           "again later";
  });
  EXPECT_THAT(cluster.logOf("server-1"),
              HasSubstr("could not be started by this server's fault; the last, "));
  broken.mend();
  EXPECT_EQ(cluster.run({"server", "uncordon", "server-1"}).exitCode, 0);
  EXPECT_EQ(cluster.ended(waiting)["state"], "done");
  cluster.expectAllUnitsFree();
}

// --- A server's first start -------------------------------------------------------------------------------

// A monitor as an operator starts it, in `folder` and with paths that are relative to it.
Process startMonitorIn(const TraceFolder& folder, const ManualCluster& cluster) {
  const std::string script = "cd " + folder.at("") + " && cp " + cluster.data() +
                             "/tokens/monitor.token . && exec " TARCIL_BINARY
                             " serve monitor --name by-hand --supervised --master unix:" +
                             cluster.data() + "/run/master.sock --listen unix:" + cluster.data() +
                             "/run/by-hand.sock --token-file monitor.token --data new/mon1 --rus 1 "
                             "--memory 64MiB --tag by-hand --stop-tasks";
  return Process({"/bin/sh", "-c", script}, {{"PATH", "/usr/sbin:/usr/bin:/sbin:/bin"}});
}

TEST(FirstStart, OfAMonitorWithARelativeFolderRunsTasksAndHasDiskToClaim) {
  SKIP_WITHOUT_CONTAINERS();
  const TraceFolder folder;
  ManualCluster cluster({.servers = 1, .notYet = {"server-1"}});
  Process monitor = startMonitorIn(folder, cluster);
  ASSERT_TRUE(monitor.waitFor("info ready"));
  const std::string job = cluster.submit("command: ['true']\nlimits: {disk: 1MiB}\n");
  EXPECT_EQ(cluster.ended(job)["state"], "done") << cluster.status(job);
  EXPECT_GT(cluster.json({"server", "show", "by-hand"})["disk_allocatable_bytes"], 0);
  monitor.signal(SIGTERM);
  EXPECT_EQ(monitor.finish().exitCode, 0);
}

// --- Usage ------------------------------------------------------------------------------------------------

class UsageAcrossDeaths : public testing::TestWithParam<const char*> {};

TEST_P(UsageAcrossDeaths, NeitherLosesNorDoublesAnything) {
  TraceFolder folder;
  ManualCluster cluster({.emulate = serversFile(folder, 2, 4), .failing = "master", .failpoint = GetParam()});
  std::vector<std::string> jobs;
  for (int i = 0; i < 3; ++i) jobs.push_back(cluster.submit("command: ['true']\ntasks: 4\n"));
  jobs.push_back(cluster.submit("command: ['false']\n"));
  for (const std::string& job : jobs) cluster.ended(job);
  cluster.waitForFailure();
  const Json usage = cluster.json({"usage"});
  ASSERT_EQ(usage.size(), 1u);
  EXPECT_EQ(usage[0]["jobs"]["done"], 3);
  EXPECT_EQ(usage[0]["jobs"]["failed"], 1);
  EXPECT_EQ(usage[0]["attempts"], 13);
  EXPECT_GT(usage[0]["ru_seconds"], 0.0);
}

INSTANTIATE_TEST_SUITE_P(Failpoints, UsageAcrossDeaths,
                         testing::Values("master.report_arrived", "master.report_arrived:2",
                                         "master.before_sync:4", "master.before_sync:6", "master.synced:4",
                                         "master.synced:6"));

// --- Bounds -----------------------------------------------------------------------------------------------

TEST(Submissions, BeyondTheBoundAreRefusedUntilAJobEnds) {
  TraceFolder folder;
  ManualCluster cluster({.emulate = serversFile(folder, 1, 2), .masterFlags = {"--max-jobs-of-user", "2"}});
  const std::string first = cluster.submit("command: [sleep, 60]\n");
  cluster.submit("command: [sleep, 60]\n");
  const ProcessResult refused = cluster.run({"submit", cluster.jobFile("command: ['true']\n")});
  EXPECT_EQ(refused.exitCode, 1);
  EXPECT_THAT(refused.err, HasSubstr("has 2 unfinished jobs, as many as one user may (the master's "
                                     "--max-jobs-of-user); try again in 10 s"));
  cluster.run({"job", "cancel", first});
  cluster.ended(first);
  EXPECT_EQ(cluster.run({"submit", cluster.jobFile("command: ['true']\n")}).exitCode, 0);
}

// --- Logs -------------------------------------------------------------------------------------------------

TEST(Log, BeginsWithVersionAndRole) {
  ManualCluster cluster({});
  const std::string program = "tarcil " + std::string(cluster.json({"version"})["version"]) + ", role ";
  EXPECT_THAT(cluster.logOf("master"), HasSubstr(program + "master\n"));
  EXPECT_THAT(cluster.logOf("agent-1"), HasSubstr(program + "agent agent-1\n"));
  EXPECT_THAT(cluster.logOf("server-1"), HasSubstr(program + "monitor server-1\n"));
}

// --- Of another user
// ----------------------------------------------------------------------------------------

TEST(ClusterOfAnotherUser, IsSaidToBeOne) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const TraceFolder folder;
  const std::string data = folder.at("data");
  std::filesystem::create_directories(data + "/run");
  std::filesystem::permissions(data, std::filesystem::perms(0700));
  ASSERT_TRUE(writeSupervisorRecord(data, {::getpid(), startTimeOf(::getpid()), {}}).ok());
  constexpr uid_t kNobody = 65'534;
  ASSERT_EQ(::seteuid(kNobody), 0);
  const auto seen = runningSupervisor(data);
  ASSERT_EQ(::seteuid(0), 0);
  ASSERT_FALSE(seen.ok());
  EXPECT_EQ(seen.error().code, ErrorCode::kDenied);
  EXPECT_THAT(seen.error().message, testing::HasSubstr("belongs to another user"));
  EXPECT_TRUE(runningSupervisor(data).ok());
}

}  // namespace tarcil::operation_test
