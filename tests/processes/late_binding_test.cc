// Late-bound jobs on clusters of real processes, with kills at bad moments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "tests/support/cluster.h"

namespace tarcil::late_binding_test {

using testing::Each;
using testing::Ge;
using testing::HasSubstr;
using testing::Pair;
using testing::SizeIs;

constexpr const char* kLate = "policy: late-binding\n";

std::string tasks(uint32_t count) {
  return "tasks: " + std::to_string(count) + "\n";
}

// How often each task has left its trace.
std::map<std::string, int> timesOf(const std::vector<std::string>& lines) {
  std::map<std::string, int> times;
  for (const std::string& line : lines) ++times[line];
  return times;
}

std::set<std::string> statesOf(const Json& job) {
  std::set<std::string> states;
  for (const Json& task : job["tasks"]) states.insert(task["state"]);
  return states;
}

TEST(LateBinding, RunsBesideJobsOfQuality) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.servers = 2, .rus = 2});
  const TraceFolder& traces = cluster.traces();
  const std::string other = cluster.submit(shellJob(traces.note("other") + traces.waitForGate()));
  traces.waitForLines("other", 1);
  const Json job =
      cluster.json({"submit", "--wait", cluster.jobFile(shellJob(traces.note("late"), kLate + tasks(8)))});
  EXPECT_EQ(job["state"], "done");
  EXPECT_THAT(statesOf(job), testing::ElementsAre("done"));
  EXPECT_THAT(timesOf(traces.lines("late")), SizeIs(8));
  EXPECT_THAT(traces.lines("late"), SizeIs(8));
  EXPECT_GT(job["tasks"][0]["phases_ms"]["service"].get<double>(), 0);
  EXPECT_EQ(cluster.status(other)["state"], "running");
  traces.openGate();
  EXPECT_EQ(cluster.ended(other)["state"], "done");
}

TEST(LateBinding, AJobThatIsLeftToItsAgentCanBeAskedFor) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2, .agents = 2});
  const TraceFolder& traces = cluster.traces();
  const std::string job = cluster.submit(shellJob(traces.note("late") + "exit 3", kLate + tasks(3)));
  cluster.until("the job has ended", [&]() { return cluster.status(job)["state"] == "failed"; });
  EXPECT_EQ(cluster.status(job)["tasks"][2]["exit_code"], 3);
  EXPECT_THAT(cluster.status(job)["reason"].get<std::string>(), HasSubstr("3 of 3 tasks failed"));
  EXPECT_GT(cluster.json({"job", "explain", job})["phases_ms"]["service"]["p50"].get<double>(), 0);
  EXPECT_THAT(traces.lines("late"), SizeIs(3));
}

TEST(LateBinding, UnitsGoBackToJobsThatWaitForThem) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  const TraceFolder& traces = cluster.traces();
  // Both units are lent out, and would be for long after: more tasks are queued than will run before the
  // gate opens.
  const std::string script =
      traces.note("late") + "sleep 0.05; " + "[ ! -e " + traces.at("gate") + " ] || exit 0; sleep 0.2";
  auto late =
      cluster.startCommand({"submit", "--wait", cluster.jobFile(shellJob(script, kLate + tasks(120)))});
  traces.waitForLines("late", 2);
  const std::string job = cluster.submit(shellJob(traces.note("whole"), "rus_per_task: 2\n"));
  EXPECT_EQ(cluster.ended(job)["state"], "done");
  EXPECT_THAT(traces.lines("whole"), SizeIs(1));
  traces.openGate();
  EXPECT_EQ(late.finish().exitCode, 0);
  EXPECT_THAT(timesOf(traces.lines("late")), SizeIs(120));
}

TEST(LateBinding, UnitsThatAreLentOutHaveOneOwnerAcrossARestartOfTheMaster) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  const TraceFolder& traces = cluster.traces();
  auto late = cluster.startCommand(
      {"submit", "--wait",
       cluster.jobFile(shellJob(traces.note("late") + traces.waitForGate(), kLate + tasks(2)))});
  traces.waitForLines("late", 2);
  cluster.kill("master");
  cluster.start("master");
  const std::string job = cluster.submit(shellJob(traces.note("other")));
  cluster.until("it waits for a unit", [&]() { return cluster.status(job)["reason"].is_string(); });
  EXPECT_EQ(cluster.status(job)["state"], "queued");
  EXPECT_TRUE(traces.lines("other").empty());
  traces.openGate();
  EXPECT_EQ(late.finish().exitCode, 0);
  EXPECT_EQ(cluster.ended(job)["state"], "done");
}

// Two agents and three monitors of a unit each; a job of six tasks, of which three run.
struct LateFaults : testing::TestWithParam<const char*> {
  void SetUp() override {
    SKIP_WITHOUT_CONTAINERS();
    cluster = std::make_unique<ManualCluster>(ClusterPlan{.servers = 3, .rus = 1, .agents = 2});
  }
  // GetParam(): more lines of the job file.
  Process& submit() {
    const std::string script = traces().note("started") + traces().waitForGate();
    const std::string file = cluster->jobFile(shellJob(script, kLate + tasks(6) + GetParam()));
    command.reset(new Process(cluster->startCommand({"submit", "--wait", "--json", file})));
    traces().waitForLines("started", 3);
    return *command;
  }
  TraceFolder& traces() { return cluster->traces(); }
  bool isAtMostOnce() const { return *GetParam() != '\0'; }

  // What was promised of the tasks.
  void judge(const ProcessResult& result) {
    const auto times = timesOf(traces().lines("started"));
    if (!isAtMostOnce()) {
      EXPECT_EQ(result.exitCode, 0) << result.err;
      EXPECT_THAT(times, SizeIs(6));
      return;
    }
    for (const auto& [task, count] : times) EXPECT_EQ(count, 1) << "task " << task << " ran twice";
    const Json job = Json::parse(result.out);
    for (const Json& task : job["tasks"]) {
      const bool ran = times.contains(std::to_string(task["index"].get<int>()));
      if (!ran) {
        EXPECT_NE(task["state"], "done");
      }
    }
  }

  std::unique_ptr<ManualCluster> cluster;
  std::unique_ptr<Process> command;
};

TEST_P(LateFaults, AgentKilledBetweenProbeAndLaunch) {
  Process& command = submit();
  cluster->kill("agent-1");
  EXPECT_TRUE(command.waitFor("is given up"));
  traces().openGate();
  judge(command.finish());
}

TEST_P(LateFaults, AgentStoppedAndContinued) {
  Process& command = submit();
  cluster->signal("agent-1", SIGSTOP);
  EXPECT_TRUE(command.waitFor("is given up"));
  traces().openGate();
  const ProcessResult result = command.finish();
  cluster->signal("agent-1", SIGCONT);
  judge(result);
}

TEST_P(LateFaults, MonitorKilledWithTasksAndReservations) {
  Process& command = submit();
  cluster->kill("server-1");
  cluster->start("server-1");
  traces().openGate();
  judge(command.finish());
}

INSTANTIATE_TEST_SUITE_P(Promises, LateFaults, testing::Values("", "at_most_once: true\n"),
                         [](const auto& info) { return *info.param == '\0' ? "Relaunch" : "AtMostOnce"; });

TEST(LateBinding, ExecutorsRunManyTasksInOneProcess) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  cluster.traces().write("executor.py", "");  // for its folder, which every user can read
  const std::string python = cluster.traces().at("executor.py");
  std::filesystem::copy_file(TARCIL_SOURCE_DIR "/examples/late-binding/executor.py", python,
                             std::filesystem::copy_options::overwrite_existing);
  const std::string executor = "policy: late-binding\nexecutor: [python3, " + python + "]\n";
  const Json job =
      cluster.json({"submit", "--wait", cluster.jobFile(executor + "command: [square, '12']\ntasks: 200\n")});
  EXPECT_EQ(job["state"], "done");
  const Json failed =
      cluster.json({"submit", "--wait", cluster.jobFile(executor + "command: [fail, '3']\ntasks: 4\n")}, 1);
  for (const Json& task : failed["tasks"]) EXPECT_EQ(task["exit_code"], 3);
  const Json slow = cluster.json(
      {"submit", "--wait",
       cluster.jobFile(
           "policy: late-binding\nexecutor: [sh, -c, 'sleep 600']\ncommand: [x]\ntimeout: 200ms\n")},
      1);
  EXPECT_EQ(slow["tasks"][0]["exit_code"], 124);
  const Json missing =
      cluster.json({"submit", "--wait",
                    cluster.jobFile("policy: late-binding\nexecutor: [no-such-program]\ncommand: [x]\n")},
                   1);
  EXPECT_EQ(missing["tasks"][0]["exit_code"], 127);
}

TEST(LateBinding, ShowsWhatAnExecutorWrote) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  const Json job = cluster.json(
      {"submit", "--wait",
       cluster.jobFile("policy: late-binding\nexecutor: [sh, -c, 'echo no such module >&2; exit 3']\n"
                       "command: [x]\n")},
      1);
  EXPECT_EQ(job["tasks"][0]["exit_code"], 3);
  EXPECT_EQ(cluster.run({"job", "logs", "--stderr", std::string(job["id"])}).out, "no such module\n");
}

TEST(LateBinding, TheExampleOfShortTasksRunsAsItIsWritten) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  const Json job =
      cluster.json({"submit", "--wait", TARCIL_SOURCE_DIR "/examples/late-binding/short-tasks.yaml"});
  EXPECT_EQ(job["state"], "done");
  EXPECT_EQ(job["tasks"].size(), 100u);
}

TEST(LateBinding, RunSaysThatACommandWasNotFound) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  const ProcessResult result = cluster.run({"run", "--policy", "late-binding", "--", "no-such-command"});
  EXPECT_EQ(result.exitCode, 127);
  EXPECT_THAT(result.err,
              testing::HasSubstr("task 0 ended with 127: the command 'no-such-command' was not found on "));
}

TEST(LateBinding, TheExampleOfAnExecutorInCppRunsTasks) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  cluster.traces().write("executor", "");  // for its folder, which every user can read
  const std::string program = cluster.traces().at("executor");
  std::filesystem::copy_file(TARCIL_LATE_EXECUTOR, program,
                             std::filesystem::copy_options::overwrite_existing);
  const Json job = cluster.json(
      {"submit", "--wait",
       cluster.jobFile(std::string(kLate) + "executor: [" + program + "]\ncommand: ['500']\n" + tasks(50))});
  EXPECT_EQ(job["state"], "done");
  for (const Json& task : job["tasks"]) EXPECT_GE(task["phases_ms"]["service"].get<double>(), 0.5);
}

TEST(LateBinding, ProgramsSubmitThroughTheLibrary) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2, .agents = 2});
  const std::string agents =
      "unix:" + cluster.data() + "/run/agent-1.sock,unix:" + cluster.data() + "/run/agent-2.sock";
  const auto run = [&](std::vector<std::string> command) {
    std::vector<std::string> words = {TARCIL_LATE_CLIENT, cluster.data() + "/tokens/submit.token", agents,
                                      "10"};
    words.insert(words.end(), command.begin(), command.end());
    return runProcess(words, {{"PATH", "/usr/bin:/bin"}});
  };
  const ProcessResult good = run({"true"}), bad = run({"false"});
  EXPECT_THAT(good.out, HasSubstr("10 done, 0 failed")) << good.err;
  EXPECT_EQ(good.exitCode, 0);
  EXPECT_THAT(bad.out, HasSubstr("0 done, 10 failed")) << bad.err;
  const ProcessResult denied = runProcess({TARCIL_LATE_CLIENT, "/dev/null", agents, "1", "true"}, {});
  EXPECT_EQ(denied.exitCode, 3);
}

TEST(LateBinding, RunCopiesWhatTasksWriteAndTakesTheirCode) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2, .agents = 2});
  const auto run = [&cluster](const std::string& script, const std::string& tasks) {
    return cluster
        .startCommand({"run", "--policy", "late-binding", "--tasks", tasks, "--", "sh", "-c", script})
        .finish();
  };
  const ProcessResult good = run("echo out $TARCIL_TASK; echo err >&2", "3");
  EXPECT_EQ(good.exitCode, 0) << good.err;
  for (const char* line : {"out 0\n", "out 1\n", "out 2\n"}) EXPECT_THAT(good.out, HasSubstr(line));
  EXPECT_THAT(good.err, HasSubstr("err\n"));
  EXPECT_EQ(run("exit 7", "2").exitCode, 7);
  const ProcessResult wide =
      cluster.startCommand({"run", "--policy", "late-binding", "--rus", "2", "--", "true"}).finish();
  EXPECT_EQ(wide.exitCode, 2);
  EXPECT_THAT(wide.err, HasSubstr("has one unit for each task"));
}

TEST(LateBinding, CommandsKnowJobsThatAgentsHold) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2, .agents = 2});
  const TraceFolder& traces = cluster.traces();
  const std::string job = cluster.submit(shellJob("echo said; echo more >&2", kLate + tasks(2)));
  EXPECT_EQ(cluster.json({"job", "wait", job})[0]["state"], "done");
  const std::string prefix = "id:" + job.substr(0, 8);
  EXPECT_EQ(cluster.status(prefix)["state"], "done");
  EXPECT_EQ(cluster.startCommand({"job", "logs", prefix}).finish().out, "said\n");
  EXPECT_EQ(cluster.startCommand({"job", "logs", "--stderr", "--task", "1", prefix}).finish().out, "more\n");
  EXPECT_EQ(cluster.json({"job", "logs", job})["tasks"][1]["stdout"], "said\n");
  const std::string other = cluster.submit(shellJob("true"));
  const Json listed = cluster.json({"job", "list"});
  ASSERT_THAT(listed, SizeIs(2));
  EXPECT_EQ(listed[0]["id"], other) << "the newest first";
  EXPECT_EQ(listed[0]["late_binding"], false);
  EXPECT_EQ(listed[1]["id"], job);
  EXPECT_EQ(listed[1]["late_binding"], true);
  EXPECT_EQ(listed[1]["succeeded"], 2);

  const std::string waiting =
      cluster.submit(shellJob(traces.note("late") + traces.waitForGate(), kLate + tasks(50)));
  traces.waitForLines("late", 2);
  EXPECT_EQ(cluster.json({"job", "cancel", waiting})[0]["cancelled"], true);
  EXPECT_EQ(cluster.json({"job", "wait", waiting}, 1)[0]["state"], "cancelled") << "the gate is shut";
  EXPECT_THAT(traces.lines("late"), SizeIs(2));
  const ProcessResult held = cluster.startCommand({"job", "hold", waiting}).finish();
  EXPECT_EQ(held.exitCode, 1);
  EXPECT_THAT(held.err, HasSubstr("is bound late"));
}

TEST(LateBinding, CancelEndsTasksThatDoNotListenAndThoseOfExecutors) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  const TraceFolder& traces = cluster.traces();
  const auto cancelled = [&](const std::string& job) {
    EXPECT_EQ(cluster.json({"job", "cancel", job})[0]["cancelled"], true);
    EXPECT_EQ(cluster.json({"job", "wait", job}, 1)[0]["state"], "cancelled");
    const Json task = cluster.status(job)["tasks"].back();
    EXPECT_EQ(task["state"], "cancelled");
    return task["signal"].is_null() ? task["exit_code"] : task["signal"];
  };
  const std::string polite = cluster.submit(
      shellJob("trap 'exit 5' TERM; " + traces.note("polite") + traces.waitForGate(), kLate + tasks(2)));
  traces.waitForLines("polite", 2);
  EXPECT_EQ(cancelled(polite), 5);
  const std::string deaf = cluster.submit(shellJob(
      "trap '' TERM; " + traces.note("deaf") + traces.waitForGate(), std::string(kLate) + "grace: 100ms\n"));
  traces.waitForLines("deaf", 1);
  EXPECT_EQ(cancelled(deaf), SIGKILL);
  const std::string executor =
      cluster.submit(std::string(kLate) + "executor: [sh, -c, " +
                     Json(traces.note("executor") + traces.waitForGate()).dump() + "]\ncommand: [x]\n");
  traces.waitForLines("executor", 1);
  EXPECT_EQ(cancelled(executor), SIGKILL);
}

TEST(LateBinding, PressureOfTasksIsCountedAtTheMaster) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  const TraceFolder& traces = cluster.traces();
  const auto caused = [&cluster]() {
    return cluster.json({"server", "show", "server-1"})["late_binding_caused"]["llc"].get<int>();
  };
  const std::string job = cluster.submit(shellJob(traces.note("late") + traces.waitForGate(),
                                                  kLate + tasks(2) + "profile: {caused: {llc: 30}}\n"));
  cluster.until("both count", [&caused]() { return caused() >= 57; });
  EXPECT_GE(cluster.json({"server", "show", "server-1"})["contention"]["llc"].get<int>(), 57);
  traces.openGate();
  cluster.until("nothing is left", [&caused]() { return caused() == 0; });
}

}  // namespace tarcil::late_binding_test
