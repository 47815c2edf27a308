// tarcil run: output, exit codes, interruption.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/foreground_job.h"
#include "tests/support/process.h"
#include "tests/support/scripted_cluster.h"

namespace tarcil::run_test {

using Words = std::vector<std::string>;

Words runOf(const Words& command, const Words& flags = {}) {
  Words words = {TARCIL_BINARY, "run"};
  words.insert(words.end(), flags.begin(), flags.end());
  words.push_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

ScriptedTask aTask(RunState state, int exitCode, int signal = 0) {
  ScriptedTask task;
  task.state = state;
  task.end.exitCode = exitCode;
  task.end.signal = signal;
  return task;
}

ProcessResult runWith(const ScriptedTask& task) {
  ClusterScript script;
  script.tasks = {task};
  const ScriptedCluster cluster(script);
  return runProcess(runOf({"command"}), cluster.environment());
}

TEST(Run, CopiesOutputAndErrorAndLeavesTheCommandAlone) {
  ClusterScript script;
  script.tasks = {{"a longer line of output, in pieces\nand no end", "one error\n", RunState::kDone, {}}};
  const ScriptedCluster cluster(script);
  const Words command = {"sh", "-c", "exit 0", "--help", "--", "[a,b]", "", "--json"};
  const ProcessResult result =
      runProcess(runOf(command, {"--env", "A=[1,2]", "--env", "B=", "--env", "TARCIL_TOKEN_FILE"}),
                 cluster.environment());
  EXPECT_EQ(result.exitCode, 0) << result.err;
  EXPECT_EQ(result.out, script.tasks[0].out);
  EXPECT_EQ(result.err, script.tasks[0].err);
  const auto record = cluster.record();
  ASSERT_EQ(record.submitted.size(), 1u);
  EXPECT_EQ(record.submitted[0].command, command);
  EXPECT_EQ(record.submitted[0].name, "sh");
  EXPECT_EQ(
      record.submitted[0].env,
      (std::map<std::string, std::string>{
          {"A", "[1,2]"}, {"B", ""}, {"TARCIL_TOKEN_FILE", cluster.environment().at("TARCIL_TOKEN_FILE")}}));
}

TEST(Run, HasNoMoreTasksAtOnceThanItPassesOnTheOutputOf) {
  ClusterScript script;
  script.tasks = {aTask(RunState::kDone, 0)};
  const ScriptedCluster cluster(script);
  tarcil({"run", "--tasks", "1000", "--", "true"}, cluster);
  tarcil({"run", "--tasks", "1000", "--concurrency", "300", "--", "true"}, cluster);
  tarcil({"run", "--tasks", "128", "--", "true"}, cluster);
  const auto submitted = cluster.record().submitted;
  ASSERT_EQ(submitted.size(), 3u);
  EXPECT_EQ(submitted[0].concurrency, 128u);
  EXPECT_EQ(submitted[1].concurrency, 300u);
  EXPECT_EQ(submitted[2].concurrency, 0u) << "all";
  const ProcessResult tooMany =
      tarcil({"run", "--tasks", "1000", "--concurrency", "513", "--", "true"}, cluster);
  EXPECT_EQ(tooMany.exitCode, 2);
  EXPECT_EQ(tooMany.err.find("tarcil: --concurrency: is 513, and a run has at most 512 tasks at once"), 0u)
      << tooMany.err;
}

TEST(Run, ShipsWhatComesOnStdinToTheCommand) {
  ClusterScript script;
  script.tasks = {aTask(RunState::kDone, 0)};
  const ScriptedCluster cluster(script);
  const std::string run = "'" TARCIL_BINARY "' run --stdin ";
  const auto shell = [&cluster](const std::string& line) {
    return runProcess({"/bin/sh", "-c", line}, cluster.environment());
  };
  const ProcessResult result = shell("printf 'a\\0b' | " + run + "-- sort");
  EXPECT_EQ(result.exitCode, 0) << result.err;
  const auto record = cluster.record();
  ASSERT_EQ(record.submitted.size(), 1u);
  EXPECT_EQ(record.submitted[0].input, "stdin");
  const std::vector<InputFile> shipped = {{.path = "stdin", .content = std::string("a\0b", 3)}};
  EXPECT_EQ(record.files.at(0), shipped);

  const ProcessResult large = shell("head -c 70000000 /dev/zero 2> /dev/null | " + run + "-- sort");
  EXPECT_EQ(large.exitCode, 2);
  EXPECT_EQ(
      large.err,
      "tarcil: --stdin: stdin: is larger than 64.0MiB; make it smaller, or have the command read a file of "
      "the servers\n");
  const ProcessResult elsewhere = shell(run + "--workdir /srv -- sort < /dev/null");
  EXPECT_EQ(elsewhere.exitCode, 2);
  EXPECT_NE(elsewhere.err.find("workdir replaces"), std::string::npos) << elsewhere.err;
  EXPECT_EQ(cluster.record().submissions, 1u);
}

TEST(Run, SaysUpToWhereItHasTheOutputAndThatTheTaskMayWait) {
  ClusterScript script;
  script.tasks = {{"twelve bytes", "", RunState::kDone, {}}};
  const ScriptedCluster cluster(script);
  EXPECT_EQ(runProcess(runOf({"command"}), cluster.environment()).out, "twelve bytes");
  EXPECT_EQ(cluster.record().taken, (std::vector<uint64_t>{5, 10}));
  EXPECT_TRUE(cluster.record().submitted.at(0).streamed);
}

TEST(Run, DoesNotSucceedWherePartOfTheOutputWasDropped) {
  ScriptedTask task = aTask(RunState::kDone, 0);
  task.out = "0123456789";
  task.dropped = 7;
  const ProcessResult result = runWith(task);
  EXPECT_EQ(result.exitCode, 125);
  EXPECT_EQ(result.out, "789");
  EXPECT_NE(result.err.find("7 bytes of output were dropped here"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("7 bytes of output are missing"), std::string::npos) << result.err;
}

TEST(Run, GoesOnWithTheNextAttemptWhereOneHasEnded) {
  ScriptedTask task = aTask(RunState::kDone, 0);
  task.first = "first attempt\n";
  task.out = "second attempt\n";
  task.err = "of the second\n";
  const ProcessResult result = runWith(task);
  EXPECT_EQ(result.exitCode, 0) << result.err;
  EXPECT_EQ(result.out, "first attempt\nsecond attempt\n");
  EXPECT_EQ(result.err, "of the second\n");
}

TEST(Run, DoesNotSucceedWithoutTheOutputOfATaskThatRan) {
  ScriptedTask task = aTask(RunState::kDone, 0);
  task.isGone = true;
  EXPECT_EQ(runWith(task).exitCode, 0) << "it never started";
  task.end.started = WallTime(Duration(1));
  const ProcessResult result = runWith(task);
  EXPECT_EQ(result.exitCode, 125);
  EXPECT_NE(result.err.find("task 0: its output is not kept on server s1 any more"), std::string::npos)
      << result.err;
}

TEST(Run, DoesNotSucceedWhereTheServersDiskDidNotTakeAll) {
  ScriptedTask task = aTask(RunState::kDone, 0);
  task.end.lacksOutput = true;
  task.end.problem = "stdout cut after 7 bytes: No space left on device";
  const ProcessResult result = runWith(task);
  EXPECT_EQ(result.exitCode, 125);
  EXPECT_EQ(result.err,
            "tarcil: task 0 ran to its end: stdout cut after 7 bytes: No space left on device\n"
            "tarcil: the command succeeded, and its output is incomplete\n");
}

TEST(Run, SaysThatItsStdoutIsClosed) {
  ClusterScript script;
  script.tasks = {{"some output\n", "", RunState::kDone, {}}};
  const ScriptedCluster cluster(script);
  const ProcessResult result =
      runProcess({"/bin/sh", "-c", "'" TARCIL_BINARY "' run -- x >&-"}, cluster.environment());
  EXPECT_EQ(result.exitCode, 125);
  EXPECT_NE(result.err.find("cannot write to stdout: Bad file descriptor; the job is cancelled"),
            std::string::npos)
      << result.err;
}

TEST(Run, ExitsAsTheCommandDoes) {
  EXPECT_EQ(runWith(aTask(RunState::kFailed, 7)).exitCode, 7);
  EXPECT_EQ(runWith(aTask(RunState::kFailed, 0, SIGSEGV)).exitCode, 128 + SIGSEGV);
}

TEST(Run, NamesWhatAnExitCodeDoesNotTell) {
  ScriptedTask killed = aTask(RunState::kFailed, 0, SIGKILL);
  killed.end.oomKilled = true;
  const ProcessResult oom = runWith(killed);
  EXPECT_EQ(oom.exitCode, 128 + SIGKILL);
  EXPECT_NE(oom.err.find("out of memory"), std::string::npos) << oom.err;

  ScriptedTask gotOver = aTask(RunState::kDone, 0);
  gotOver.end.oomKilled = true;
  const ProcessResult done = runWith(gotOver);
  EXPECT_EQ(done.exitCode, 0);
  EXPECT_NE(done.err.find("ran out of memory and went on"), std::string::npos) << done.err;

  const ProcessResult lost = runWith(aTask(RunState::kLost, 0));
  EXPECT_EQ(lost.exitCode, 125);
  EXPECT_NE(lost.err.find("lost with server s1"), std::string::npos) << lost.err;

  ScriptedTask absent = aTask(RunState::kFailed, 0);
  absent.end.cause = EndCause::kNeverStarted;
  absent.end.problem = "no such program";
  const ProcessResult never = runWith(absent);
  EXPECT_EQ(never.exitCode, 125);
  EXPECT_NE(never.err.find("no such program"), std::string::npos) << never.err;
}

TEST(Run, KeepsLinesWholeWhereTasksShareTheOutput) {
  ClusterScript script;
  script.tasks = {{"aaaaaaaaaaaa\naaaaaaaaaa", "", RunState::kDone, {}},
                  {"bbbbbbbbbbbb\n", "", RunState::kDone, {}}};
  const ScriptedCluster cluster(script);
  const ProcessResult result = runProcess(runOf({"x"}, {"--tasks", "300"}), cluster.environment());
  EXPECT_EQ(result.exitCode, 0) << result.err;
  size_t wholeLines = 0;
  for (size_t at = 0; (at = result.out.find("bbbbbbbbbbbb", at)) != std::string::npos; at += 12) ++wholeLines;
  EXPECT_EQ(wholeLines, 150u);
}

TEST(Run, ExitsWithTheFirstFailureInOrderOfTheTasks) {
  ClusterScript script;
  script.tasks = {aTask(RunState::kDone, 0), aTask(RunState::kFailed, 4), aTask(RunState::kFailed, 5)};
  const ScriptedCluster cluster(script);
  EXPECT_EQ(runProcess(runOf({"x"}, {"--tasks", "3"}), cluster.environment()).exitCode, 4);
}

TEST(Run, GoesOnWithTheNextAgentWithoutRepeatingOutput) {
  ClusterScript script;
  script.tasks = {{"some output in several pieces\n", "", RunState::kDone, {}}};
  script.deadly = ClusterScript::Deadly::kWait;
  const ScriptedCluster cluster(script, 2);
  const ProcessResult result = runProcess(runOf({"x"}), cluster.environment());
  EXPECT_EQ(result.exitCode, 0) << result.err;
  EXPECT_EQ(result.out, script.tasks[0].out);
}

TEST(Run, RefusedByTheClusterIsAFailureOfTarcil) {
  ClusterScript script;
  script.refusal = invalid("no server meets the constraints");
  const ScriptedCluster cluster(script);
  const ProcessResult result = runProcess(runOf({"x"}), cluster.environment());
  EXPECT_EQ(result.exitCode, 125);
  EXPECT_EQ(result.err, "tarcil: no server meets the constraints\n");
}

ClusterScript untilCancelled() {
  ClusterScript script;
  script.tasks = {{"started\n", "", RunState::kDone, {}}};
  script.runsUntilCancelled = true;
  return script;
}

TEST(Run, CancelsTheJobOnTheFirstInterrupt) {
  const ScriptedCluster cluster(untilCancelled());
  Process process(runOf({"x"}), cluster.environment());
  ASSERT_TRUE(process.waitFor("started\n"));
  process.signal(SIGINT);
  const ProcessResult result = process.finish();
  EXPECT_EQ(result.exitCode, 128 + SIGINT) << result.err;
  EXPECT_EQ(cluster.record().cancelled.size(), 1u);
}

// More than a pipe holds, of which nobody reads.
TEST(Run, LeavesAfterOneSignalThoughItsReaderHasStalled) {
  ClusterScript script = untilCancelled();
  script.tasks[0].out += std::string(150'000, 'x') + "\n";
  const ScriptedCluster cluster(script);
  Process process(runOf({"x"}, {"--tasks", "2"}), cluster.environment());
  ASSERT_TRUE(process.waitFor("started\n"));
  process.signal(SIGTERM);
  const int itself = static_cast<int>(::syscall(SYS_pidfd_open, process.pid(), 0));
  pollfd ended{itself, POLLIN, 0};
  ASSERT_EQ(::poll(&ended, 1, -1), 1);
  ::close(itself);
  EXPECT_EQ(process.finish().exitCode, 128 + SIGTERM);
}

TEST(Run, LeavesAtOnceOnTheSecondInterrupt) {
  ClusterScript script = untilCancelled();
  script.ignoresCancel = true;
  const ScriptedCluster cluster(script);
  Process process(runOf({"x"}), cluster.environment());
  ASSERT_TRUE(process.waitFor("started\n"));
  process.signal(SIGINT);
  ASSERT_TRUE(process.waitFor("once more to leave at once"));
  process.signal(SIGINT);
  EXPECT_EQ(process.finish().exitCode, 128 + SIGINT);
}

TEST(Run, CancelsTheJobWhenNobodyReadsItsOutput) {
  ClusterScript script;
  script.runsUntilCancelled = true;
  script.tasks = {{std::string(200, 'x'), "started", RunState::kDone, {}}};
  const ScriptedCluster cluster(script);
  Process process(runOf({"x"}), cluster.environment());
  process.closeStdout();
  EXPECT_EQ(process.finish().exitCode, 128 + SIGPIPE);
  EXPECT_EQ(cluster.record().cancelled.size(), 1u);
}

}  // namespace tarcil::run_test
