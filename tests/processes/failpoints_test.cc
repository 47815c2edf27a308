// Every named place at which a role can die: the job comes out whole, each task is started once, and no unit
// stays taken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "core/model/file_pieces.h"
#include "tests/support/cluster.h"

namespace tarcil::failpoints_test {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

// "name" or "name:n"; the part before the dot is the role.
const char* const kFailpoints[] = {
    "agent.before_answer",
    "agent.before_commit",
    "agent.before_launch",
    "agent.before_launch:2",
    "agent.commit_answered",
    "agent.launched",
    "agent.launched:2",
    "agent.submit_arrived",
    "master.commit_arrived",
    "master.report_arrived",
    "master.report_arrived:2",
    "monitor.before_forget",
    "monitor.before_report",
    "monitor.before_report:2",
    "monitor.launch_arrived",
    "monitor.launch_recorded",
    "monitor.launch_recorded:2",
    "monitor.recorded",
    "monitor.recorded:2",
    "monitor.reports_acknowledged",
    "monitor.reports_acknowledged:2",
    "monitor.spawned",
    "monitor.spawned:2",
    "monitor.task_ended",
    "monitor.task_ended:2",
    // The first syncs are those of attaching; which is the job's depends on what is written together.
    "master.store_unnamed",
    "master.before_sync:1",
    "master.before_sync:2",
    "master.before_sync:3",
    "master.before_sync:4",
    "master.before_sync:5",
    "master.before_sync:6",
    "master.synced:1",
    "master.synced:2",
    "master.synced:3",
    "master.synced:4",
    "master.synced:5",
    "master.synced:6",
};

// Those that a monitor only comes to when it ends a task, and when a task has input files.
const char* const kFailpointsOfEnding[] = {
    "monitor.reason_recorded",
    "monitor.signalled",
};
const char* const kFailpointsOfFiles[] = {
    "agent.before_commit",   "agent.before_launch",   "agent.commit_answered",   "agent.submit_arrived",
    "master.commit_arrived", "monitor.files_arrived", "monitor.launch_recorded", "monitor.spawned",
};

const char* const kFailpointsOfSecrets[] = {
    "agent.launched",
    "monitor.launch_recorded",
    "monitor.secrets_arrived",
    "monitor.spawned",
};

// The same where they go ahead in pieces: the role dies between two of them, too.
const char* const kFailpointsOfPieces[] = {
    "agent.before_commit",  "agent.before_piece:2",  "agent.commit_answered",   "agent.piece_answered:2",
    "agent.submit_arrived", "master.commit_arrived", "master.piece_arrived:2",  "master.piece_arrived:3",
    "master.before_sync:5", "monitor.files_arrived", "monitor.launch_recorded",
};

// Those of a task that gets another unit; with ":2", of one that gives it back.
const char* const kFailpointsOfResizing[] = {
    "master.before_resize",   "master.resize_answered", "monitor.resize_arrived",
    "monitor.units_recorded", "monitor.units_changed",  "monitor.resized",
};

std::string roleOf(const std::string& failpoint) {
  return failpoint.substr(0, failpoint.find('.'));
}

std::string processOf(const std::string& failpoint) {
  const std::string role = roleOf(failpoint);
  if (role == "agent") return "agent-1";
  return role == "monitor" ? "server-1" : "master";
}

class Failpoint : public testing::TestWithParam<const char*> {};

TEST_P(Failpoint, LosesNothingAndRepeatsNothing) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.servers = 1, .rus = 4, .failing = processOf(GetParam()), .failpoint = GetParam()});
  const std::string file = cluster.jobFile(shellJob(cluster.traces().note("ran"), "tasks: 4\n"));
  const Json job = cluster.json({"submit", "--wait", file});
  cluster.waitForFailure();
  EXPECT_EQ(job["state"], "done");
  EXPECT_THAT(cluster.traces().lines("ran"), UnorderedElementsAre("0", "1", "2", "3"));
  cluster.expectAllUnitsFree();
  const Json jobs = cluster.json({"job", "list"});
  ASSERT_EQ(jobs.size(), 1u) << "the repeated submission did not find the job";
  EXPECT_EQ(jobs[0]["state"], "done");
  EXPECT_EQ(cluster.run({"run", "--", "true"}).exitCode, 0) << "the cluster does not go on";
}

std::string nameOf(const testing::TestParamInfo<const char*>& info) {
  return std::regex_replace(std::string(info.param), std::regex("[.:!]"), "_");
}

INSTANTIATE_TEST_SUITE_P(Named, Failpoint, testing::ValuesIn(kFailpoints), nameOf);

class FailpointOfEnding : public testing::TestWithParam<const char*> {};

TEST_P(FailpointOfEnding, LosesNeitherTheTaskNorTheReason) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.servers = 1, .rus = 1, .failing = "server-1", .failpoint = GetParam()});
  const TraceFolder& traces = cluster.traces();
  const std::string job =
      cluster.submit(shellJob(traces.note("started") + traces.waitForGate(), "timeout: 100ms\n"));
  const Json status = cluster.ended(job);
  cluster.waitForFailure();
  EXPECT_EQ(status["state"], "failed");
  EXPECT_EQ(status["tasks"][0]["signal"], SIGTERM);
  EXPECT_EQ(status["tasks"][0]["problem"], "ran longer than its timeout of 0.1s");
  EXPECT_EQ(traces.lines("started").size(), 1u);
  cluster.expectAllUnitsFree();
}

INSTANTIATE_TEST_SUITE_P(Named, FailpointOfEnding, testing::ValuesIn(kFailpointsOfEnding), nameOf);

// Cancelling takes its course whoever dies on the way.
class FailpointOfCancelling : public testing::TestWithParam<const char*> {};

TEST_P(FailpointOfCancelling, EndsEachTaskAndSaysSo) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.servers = 1, .rus = 2, .failing = processOf(GetParam()), .failpoint = GetParam()});
  const TraceFolder& traces = cluster.traces();
  const std::string job = cluster.submit(
      shellJob(traces.note("started") + traces.waitForGate() + traces.note("ended"), "tasks: 2\n"));
  traces.waitForLines("started", 2);
  EXPECT_EQ(cluster.run({"job", "cancel", job}).exitCode, 0);
  const Json status = cluster.ended(job);
  cluster.waitForFailure();
  EXPECT_EQ(status["state"], "cancelled");
  for (const Json& task : status["tasks"]) EXPECT_EQ(task["state"], "cancelled") << task;
  EXPECT_EQ(traces.lines("started").size(), 2u);
  EXPECT_TRUE(traces.lines("ended").empty());
  cluster.expectAllUnitsFree();
}

INSTANTIATE_TEST_SUITE_P(Named, FailpointOfCancelling,
                         testing::Values("monitor.reason_recorded", "monitor.reason_recorded:2",
                                         "monitor.signalled", "monitor.signalled:2", "monitor.task_ended",
                                         "monitor.task_ended:2", "monitor.before_report:2",
                                         "monitor.reports_acknowledged:2", "monitor.before_forget",
                                         "master.report_arrived:2"),
                         nameOf);

// A task that does not heed SIGTERM is killed, by whichever monitor is there when its grace is over.
class FailpointOfKilling : public testing::TestWithParam<const char*> {};

TEST_P(FailpointOfKilling, TheGraceEndsAllTheSame) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.servers = 1, .rus = 1, .failing = "server-1", .failpoint = GetParam()});
  const TraceFolder& traces = cluster.traces();
  const std::string job = cluster.submit(
      shellJob("trap '' TERM; " + traces.note("started") + traces.waitForGate(), "grace: 100ms\n"));
  traces.waitForLines("started", 1);
  EXPECT_EQ(cluster.run({"job", "cancel", job}).exitCode, 0);
  const Json status = cluster.ended(job);
  cluster.waitForFailure();
  EXPECT_EQ(status["state"], "cancelled");
  EXPECT_EQ(status["tasks"][0]["signal"], SIGKILL);
  cluster.expectAllUnitsFree();
}

INSTANTIATE_TEST_SUITE_P(Named, FailpointOfKilling,
                         testing::Values("monitor.reason_recorded", "monitor.signalled",
                                         "monitor.signalled:2"),
                         nameOf);

// Each failure counts once, however often it is told.
class FailpointOfRestarting : public testing::TestWithParam<const char*> {};

TEST_P(FailpointOfRestarting, TriesAsOftenAsAsked) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.servers = 1, .rus = 1, .failing = processOf(GetParam()), .failpoint = GetParam()});
  const std::string job = cluster.submit(
      shellJob(cluster.traces().note("tries") + "exit 4", "restart: {attempts: 2, backoff: 10ms}\n"));
  const Json status = cluster.ended(job);
  cluster.waitForFailure();
  EXPECT_EQ(status["state"], "failed");
  EXPECT_EQ(status["tasks"][0]["exit_code"], 4);
  EXPECT_EQ(status["tasks"][0]["attempt"], 2);
  EXPECT_EQ(cluster.traces().lines("tries").size(), 3u);
  cluster.expectAllUnitsFree();
}

INSTANTIATE_TEST_SUITE_P(Named, FailpointOfRestarting,
                         testing::Values("agent.launched", "agent.before_launch:2", "agent.launched:2",
                                         "agent.commit_answered:2", "master.report_arrived",
                                         "master.report_arrived:2", "master.commit_arrived:2",
                                         "monitor.recorded:2", "monitor.spawned:2", "monitor.task_ended",
                                         "monitor.before_report:2", "monitor.reports_acknowledged",
                                         "monitor.reports_acknowledged:2", "monitor.before_forget",
                                         "monitor.before_forget:2"),
                         nameOf);

// Where something is thrown that nobody expects: the role says what failed and ends, rather than go on half
// alive.
struct Thrown {
  const char* failpoint;
  int exitCode;
  const char* said;
};

class FailpointThatThrows : public testing::TestWithParam<Thrown> {};

TEST_P(FailpointThatThrows, EndsTheRoleWithAMessageAndLosesNothing) {
  SKIP_WITHOUT_CONTAINERS();
  const std::string role = processOf(GetParam().failpoint);
  ManualCluster cluster({.servers = 1,
                         .rus = 4,
                         .failing = role,
                         .failpoint = GetParam().failpoint,
                         .failingWith = GetParam().exitCode});
  const std::string file = cluster.jobFile(shellJob(cluster.traces().note("ran"), "tasks: 4\n"));
  const Json job = cluster.json({"submit", "--wait", file});
  cluster.waitForFailure();
  EXPECT_THAT(cluster.logOf(role), testing::HasSubstr(GetParam().said));
  EXPECT_EQ(job["state"], "done");
  EXPECT_THAT(cluster.traces().lines("ran"), UnorderedElementsAre("0", "1", "2", "3"));
  cluster.expectAllUnitsFree();
}

INSTANTIATE_TEST_SUITE_P(Named, FailpointThatThrows,
                         testing::Values(Thrown{"agent.before_launch!", 1, "handling an event failed"},
                                         Thrown{"agent.commit_answered!", 1, "taking an answer failed"},
                                         Thrown{"agent.launched!", 1, "taking an answer failed"},
                                         Thrown{"master.before_sync!:3", 4, "failpoint master.before_sync"},
                                         Thrown{"master.synced!:3", 4, "failpoint master.synced"},
                                         Thrown{"monitor.launch_recorded!", 1, "handling an event failed"},
                                         Thrown{"monitor.reports_acknowledged!", 1,
                                                "taking an answer failed"},
                                         Thrown{"monitor.task_ended!", 1, "looking after tasks failed"}),
                         [](const testing::TestParamInfo<Thrown>& info) {
                           return std::regex_replace(std::string(info.param.failpoint), std::regex("[.:!]"),
                                                     "_");
                         });

// Input files reach the task whoever dies between their submission and its start.
class FailpointOfFiles : public testing::TestWithParam<const char*> {};

TEST_P(FailpointOfFiles, TheyAreThereWhenTheTaskRuns) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.servers = 1, .rus = 1, .failing = processOf(GetParam()), .failpoint = GetParam()});
  const std::filesystem::path input = std::filesystem::path(cluster.data()).parent_path() / "input";
  std::ofstream(input) << "content";
  const std::string job = cluster.submit(
      shellJob("cat input > " + cluster.traces().at("seen") + "; " + cluster.traces().note("ran"),
               "files: [input]\n"));
  EXPECT_EQ(cluster.ended(job)["state"], "done");
  cluster.waitForFailure();
  EXPECT_THAT(cluster.traces().lines("seen"), ElementsAre("content"));
  EXPECT_EQ(cluster.traces().lines("ran").size(), 1u);
  cluster.expectAllUnitsFree();
}

INSTANTIATE_TEST_SUITE_P(Named, FailpointOfFiles, testing::ValuesIn(kFailpointsOfFiles), nameOf);

// A task finds its secrets whoever dies between its launch and its start, and nothing of them is left behind.
class FailpointOfSecrets : public testing::TestWithParam<const char*> {};

TEST_P(FailpointOfSecrets, TheyAreThereWhenTheTaskRuns) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.servers = 1, .rus = 1, .failing = processOf(GetParam()), .failpoint = GetParam()});
  const std::string file = std::filesystem::path(cluster.data()).parent_path() / "value";
  std::ofstream(file) << "hunter2";
  ASSERT_EQ(cluster.run({"secret", "put", "db", "--file", file}).exitCode, 0);
  const std::string job = cluster.submit(shellJob(
      "cat $TARCIL_SECRETS/db > " + cluster.traces().at("seen") + "; " + cluster.traces().note("ran"),
      "secrets: [db]\n"));
  EXPECT_EQ(cluster.ended(job)["state"], "done");
  cluster.waitForFailure();
  EXPECT_THAT(cluster.traces().lines("seen"), ElementsAre("hunter2"));
  EXPECT_EQ(cluster.traces().lines("ran").size(), 1u);
  cluster.expectAllUnitsFree();
}

INSTANTIATE_TEST_SUITE_P(Named, FailpointOfSecrets, testing::ValuesIn(kFailpointsOfSecrets), nameOf);

class FailpointOfPieces : public testing::TestWithParam<const char*> {};

TEST_P(FailpointOfPieces, TheyAreThereWhole) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.servers = 1, .rus = 1, .failing = processOf(GetParam()), .failpoint = GetParam()});
  const std::filesystem::path input = std::filesystem::path(cluster.data()).parent_path() / "input";
  std::string content;
  for (int line = 0; content.size() < 3 * kMaxPieceBytes; ++line) content += std::to_string(line) + "\n";
  std::ofstream(input) << content;
  const std::string job = cluster.submit(shellJob(
      "cp input " + cluster.traces().at("seen") + "; " + cluster.traces().note("ran"), "files: [input]\n"));
  EXPECT_EQ(cluster.ended(job)["state"], "done");
  cluster.waitForFailure();
  std::ifstream seen(cluster.traces().at("seen"));
  EXPECT_TRUE(std::string(std::istreambuf_iterator<char>(seen), {}) == content);
  EXPECT_EQ(cluster.traces().lines("ran").size(), 1u);
  cluster.expectAllUnitsFree();
}

INSTANTIATE_TEST_SUITE_P(Named, FailpointOfPieces, testing::ValuesIn(kFailpointsOfPieces), nameOf);

// A server of four units, of which a task may have two.
ClusterPlan planOfResizing(const std::string& failpoint, const std::string& calm) {
  return {
      .servers = 1,
      .rus = 4,
      .failing = processOf(failpoint),
      .failpoint = failpoint,
      .monitorFlags = {"--performance-period", "100ms"},
      .masterFlags = {"--adjusting-pause", "100ms", "--adjusting-calm", calm, "--max-auto-cordoned", "0"}};
}

// Has too little memory for what it does until it has a second unit, which it notes as "grown". Tries once
// more when the file "try" is there, and notes as "small" that it has too little again.
std::string jobThatNeedsTwoUnits(const TraceFolder& traces) {
  const std::string goesOn = "[ -d " + traces.at("") + " ]";
  const std::string script =
      "fits() { dd if=/dev/zero of=/dev/null bs=32M count=1 status=none; }; "
      "until fits; do " +
      goesOn + " || exit; echo 1 > $TARCIL_METRIC_FILE; done; " + traces.note("grown") + "while " + goesOn +
      " && ! [ -e " + traces.at("try") + " ]; do echo 100 > $TARCIL_METRIC_FILE; sleep 0.05; done; fits || " +
      traces.note("small") + traces.waitForGate();
  return shellJob(script,
                  "performance: {metric: reported, target: 100, window: 300ms}\nadjust: {more_rus: 1}\n"
                  "limits: {memory: 16MiB}\n");
}

size_t unitsOf(const TestCluster& cluster, const std::string& job) {
  return cluster.status(job)["tasks"][0]["rus"].size();
}

// The other units of the server are to be had, and only those; master and monitor agree on that.
void expectOthersGetTheRest(TestCluster& cluster, const std::string& job, size_t rest) {
  const std::string others = cluster.submit(
      shellJob(cluster.traces().note("others") + cluster.traces().waitForGate(), "tasks: 4\n"));
  cluster.traces().waitForLines("others", rest);
  const Json server = cluster.json({"server", "show", "server-1"});
  EXPECT_EQ(server["free"], 0) << server;
  std::multiset<int> owned;
  for (const Json& task : server["tasks"]) owned.insert(task["rus"].begin(), task["rus"].end());
  EXPECT_THAT(owned, ElementsAre(0, 1, 2, 3)) << server;
  EXPECT_EQ(unitsOf(cluster, job), 4 - rest);
  EXPECT_EQ(cluster.traces().lines("others").size(), rest);
  cluster.traces().write("try", "");
  cluster.traces().openGate();
  EXPECT_EQ(cluster.ended(job)["tasks"][0]["exit_code"], 0);
  EXPECT_EQ(cluster.ended(others)["state"], "done");
  cluster.expectAllUnitsFree();
  const std::string whole = cluster.submit(shellJob(cluster.traces().note("whole"), "rus_per_task: 4\n"));
  EXPECT_EQ(cluster.ended(whole)["state"], "done") << "the monitor keeps a unit";
}

class FailpointOfGrowing : public testing::TestWithParam<const char*> {};

TEST_P(FailpointOfGrowing, TheTaskHasOneUnitMoreAtLast) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster(planOfResizing(GetParam(), "1h"));
  const std::string job = cluster.submit(jobThatNeedsTwoUnits(cluster.traces()));
  cluster.waitForFailure();
  cluster.traces().waitForLines("grown", 1);
  cluster.until("it has two units", [&]() { return unitsOf(cluster, job) == 2; });
  expectOthersGetTheRest(cluster, job, 2);
}

INSTANTIATE_TEST_SUITE_P(Named, FailpointOfGrowing, testing::ValuesIn(kFailpointsOfResizing), nameOf);
INSTANTIATE_TEST_SUITE_P(BeforeAll, FailpointOfGrowing, testing::Values("master.violations_arrived"), nameOf);

class FailpointOfGivingBack : public testing::TestWithParam<const char*> {};

TEST_P(FailpointOfGivingBack, TheTaskHasWhatItAskedForAtLast) {
  SKIP_WITHOUT_CONTAINERS();
  const std::string second = std::string(GetParam()) + ":2";
  ManualCluster cluster(planOfResizing(second, "100ms"));
  const std::string job = cluster.submit(jobThatNeedsTwoUnits(cluster.traces()));
  cluster.traces().waitForLines("grown", 1);
  cluster.waitForFailure();
  cluster.until("it has one unit", [&]() { return unitsOf(cluster, job) == 1; });
  cluster.traces().write("try", "");
  cluster.traces().waitForLines("small", 1);
  expectOthersGetTheRest(cluster, job, 3);
}

INSTANTIATE_TEST_SUITE_P(Named, FailpointOfGivingBack, testing::ValuesIn(kFailpointsOfResizing), nameOf);

TEST(Failpoints, AreAllTested) {
  std::set<std::string> tested, named;
  for (const std::string failpoint : kFailpoints) tested.insert(failpoint.substr(0, failpoint.find(':')));
  tested.insert(std::begin(kFailpointsOfEnding), std::end(kFailpointsOfEnding));
  tested.insert(std::begin(kFailpointsOfFiles), std::end(kFailpointsOfFiles));
  tested.insert(std::begin(kFailpointsOfSecrets), std::end(kFailpointsOfSecrets));
  for (const std::string failpoint : kFailpointsOfPieces)
    tested.insert(failpoint.substr(0, failpoint.find(':')));
  tested.insert(std::begin(kFailpointsOfResizing), std::end(kFailpointsOfResizing));
  tested.insert("master.violations_arrived");
  tested.insert("master.copy_unnamed");                                          // by backup_test.cc
  tested.insert({"etcd.after_batch", "etcd.before_batch", "etcd.before_fold"});  // by etcd_test.cc
  tested.insert({"audit.appended", "audit.before_append", "audit.before_erase", "audit.in_files",
                 "audit.synced"});        // by audit_test.cc
  tested.insert("monitor.results_kept");  // by results_test.cc
  for (const char* name : {"monitor.image_fetching", "monitor.image_fetched"})
    tested.insert(name);  // images_test.cc
  const std::regex call("failpoint\\(\"([a-z._]+)\"\\)");
  for (const char* folder : {"master", "agent", "monitor", "env", "audit"}) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::filesystem::path(TARCIL_SOURCE_DIR) / folder)) {
      if (entry.path().extension() != ".cc") continue;
      std::ifstream in(entry.path());
      const std::string text{std::istreambuf_iterator<char>(in), {}};
      for (std::sregex_iterator it(text.begin(), text.end(), call), end; it != end; ++it) {
        named.insert((*it)[1]);
      }
    }
  }
  EXPECT_EQ(tested, named);
}

}  // namespace tarcil::failpoints_test
