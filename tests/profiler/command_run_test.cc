#include "profiler/command_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "classifier/kernels/machine.h"
#include "tests/support/temporary_folder.h"

namespace tarcil::command_run_test {

using testing::HasSubstr;

CommandPlan planOf(std::vector<std::string> words, Seconds atMost = Seconds(120)) {
  return {std::move(words), readMachine().cores, atMost, ""};
}

CommandOutcome run(const std::string& script, Seconds atMost = Seconds(120)) {
  auto outcome = runCommand(planOf({"sh", "-c", script}, atMost));
  EXPECT_TRUE(outcome) << outcome.error().message;
  return outcome ? *outcome : CommandOutcome{};
}

// Process ids, one a line; those that are still there.
std::vector<pid_t> stillThere(const std::string& path) {
  std::vector<pid_t> there;
  std::ifstream file(path);
  int pids = 0;
  for (pid_t pid; file >> pid; ++pids) {
    if (::kill(pid, 0) == 0) there.push_back(pid);
  }
  EXPECT_GT(pids, 0) << path;
  return there;
}

TEST(CommandRun, SaysHowItWent) {
  const CommandOutcome outcome = run("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done");
  EXPECT_TRUE(outcome.succeeded());
  EXPECT_GT(outcome.wall.count(), 0);
  EXPECT_GT(outcome.cpuSeconds, 0);
  EXPECT_GT(outcome.memoryBytes, 0u);
  EXPECT_EQ(outcome.leftProcesses, 0u);
}

TEST(CommandRun, TellsExitCodesAndSignalsAndLastWords) {
  const CommandOutcome failed = run("echo some words >&2; exit 3");
  EXPECT_EQ(failed.exitCode, 3);
  EXPECT_EQ(failed.lastWords, "some words\n");
  EXPECT_FALSE(failed.succeeded());
  const CommandOutcome killed = run("kill -SEGV $$");
  EXPECT_EQ(killed.signal, SIGSEGV);
  EXPECT_FALSE(killed.succeeded());
}

// Faults of pages, which the kernel counts on any machine; PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS.
constexpr CountedEvent kFaults{1, 2};

double faultsOf(const std::string& script) {
  CommandPlan plan = planOf({"sh", "-c", script});
  plan.counted = kFaults;
  const auto outcome = runCommand(plan);
  EXPECT_TRUE(outcome) << outcome.error().message;
  return outcome ? outcome->countedPerSecond.value_or(-1) * outcome->wall.count() : -1;
}

TEST(CommandRun, CountsWhatAllOfItsProcessesDo) {
  if (const Status counts = countable(kFaults); !counts) GTEST_SKIP() << counts.error().message;
  // Each subshell writes to pages of its own before it ends.
  const double one = faultsOf("( : )");
  const double many = faultsOf("i=0; while [ $i -lt 100 ]; do i=$((i+1)); ( : ); done");
  EXPECT_GT(one, 0);
  EXPECT_GT(many, one + 100);
}

TEST(CommandRun, CountsNothingUnlessAsked) {
  EXPECT_EQ(run("true").countedPerSecond, std::nullopt);
}

TEST(CommandRun, SaysWhatCannotBeCounted) {
  CommandPlan plan = planOf({"true"});
  plan.counted = CountedEvent{.type = 0x7fffffff, .config = 0};
  const auto outcome = runCommand(plan);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(outcome.error().message, HasSubstr("perf_event_open: "));
}

TEST(CommandRun, SaysWhatCannotBeStarted) {
  const auto outcome = runCommand(planOf({"/nonexistent/program"}));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(outcome.error().message, HasSubstr("/nonexistent/program"));
}

TEST(CommandRun, IsCutWhenItHangs) {
  const CommandOutcome outcome = run("trap '' TERM INT HUP; while :; do sleep 100; done", Seconds(0.2));
  EXPECT_TRUE(outcome.wasCut);
  EXPECT_EQ(outcome.signal, 0);
  EXPECT_GE(outcome.wall.count(), 0.2);
}

TEST(CommandRun, IsCutWhileItWritesWithoutEnd) {
  const CommandOutcome outcome = run("yes", Seconds(0.3));
  EXPECT_TRUE(outcome.wasCut);
  EXPECT_GT(outcome.outputBytes, 0u);
}

TEST(CommandRun, ReadsMegabytesAndKeepsTheEnd) {
  const CommandOutcome outcome =
      run("head -c 20000000 /dev/zero; head -c 2000000 /dev/zero | tr '\\0' x >&2; echo the end >&2");
  EXPECT_TRUE(outcome.succeeded());
  EXPECT_EQ(outcome.outputBytes, 22'000'008u);
  EXPECT_LE(outcome.lastWords.size(), 500u);
  EXPECT_THAT(outcome.lastWords, testing::EndsWith("xthe end\n"));
}

TEST(CommandRun, HasAnEmptyInput) {
  EXPECT_TRUE(run("test $(cat | wc -c) = 0").succeeded());
}

TEST(CommandRun, EndsWhatTheCommandLeavesBehind) {
  const TemporaryFolder folder;
  const std::string pids = folder.path() + "/pids";
  const CommandOutcome outcome =
      run("setsid sh -c 'echo $$ >> " + pids + "; exec sleep 1000' & sleep 1000 & echo $! >> " + pids +
          "; until [ $(wc -l < " + pids + ") = 2 ]; do :; done");
  EXPECT_TRUE(outcome.succeeded());
  EXPECT_EQ(outcome.leftProcesses, 2u);
  EXPECT_TRUE(stillThere(pids).empty());
}

TEST(CommandRun, EndsAWholeTreeWhenItIsCut) {
  const TemporaryFolder folder;
  const std::string pids = folder.path() + "/pids";
  const CommandOutcome outcome = run("for i in 1 2 3; do setsid sh -c 'echo $$ >> " + pids +
                                         "; sleep 1000 & echo $! >> " + pids + "; wait' & done; wait",
                                     Seconds(1));
  EXPECT_TRUE(outcome.wasCut);
  EXPECT_TRUE(stillThere(pids).empty());
}

TEST(CommandRun, CountsWhatItsChildrenUsed) {
  const CommandOutcome outcome = run("sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'; true");
  EXPECT_GT(outcome.cpuSeconds, 0.005);
}

TEST(CommandRun, StaysOnItsCores) {
  const Machine machine = readMachine();
  auto outcome = runCommand({{"sh", "-c", "test $(nproc) = 1"}, {machine.cores.back()}, Seconds(120), ""});
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->succeeded());
}

TEST(CommandRun, FindsTheMetricOfACommandThatNeverEnds) {
  CommandPlan plan = planOf({"sh", "-c", "while :; do echo rate: 7; done"}, Seconds(0.3));
  plan.metric = "rate";
  const auto outcome = runCommand(plan);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->wasCut);
  EXPECT_EQ(outcome->metric, 7);
}

TEST(CommandRun, TakesNoHalfLineForAMetric) {
  CommandPlan plan = planOf({"sh", "-c", "sleep 0.4; printf 'rate: 7\nrate: 1'; sleep 1000"}, Seconds(1.2));
  plan.metric = "rate";
  const auto outcome = runCommand(plan);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->metric, 7);
}

TEST(CommandRun, EndsWithWhoeverRunsIt) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // so that orphans come to us
  const TemporaryFolder folder;
  const std::string pids = folder.path() + "/pids";
  const pid_t caller = ::fork();
  if (caller == 0) {
    (void)runCommand(planOf(
        {"sh", "-c",
         "setsid sleep 1000 & echo $! $$ > " + pids + ".new; mv " + pids + ".new " + pids + "; sleep 1000"}));
    ::_exit(0);
  }
  while (!std::filesystem::exists(pids)) ::usleep(1000);
  ::kill(caller, SIGKILL);
  // Everything below us ends; a process that stayed would keep us here until the test's time is up.
  while (::waitpid(-1, nullptr, 0) > 0) continue;
  EXPECT_TRUE(stillThere(pids).empty());
}

}  // namespace tarcil::command_run_test
