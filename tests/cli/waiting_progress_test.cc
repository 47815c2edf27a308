// How far jobs are, while they are waited for on a terminal.
#include "cli/waiting_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/running_tarcil.h"
#include "tests/cli/terminal.h"

namespace tarcil::waiting_progress_test {

using testing::HasSubstr;
using testing::Not;

std::optional<JobCounts> countsIn(RunState state, uint32_t queued, uint32_t running, uint32_t done) {
  JobCounts counts;
  counts.progress.state = state;
  counts.progress.reason = "no free units";
  counts.inState = {queued, 0, running, done};
  return counts;
}

TEST(ProgressText, OfOneJobIsItsTasksAndWhyTheyWait) {
  EXPECT_EQ(progressText({countsIn(RunState::kRunning, 2, 3, 4)}), "2 queued, 3 running, 4 done");
  EXPECT_EQ(progressText({countsIn(RunState::kQueued, 2, 0, 0)}), "2 queued: no free units");
  EXPECT_EQ(progressText({std::nullopt}), "");
}

TEST(ProgressText, OfSeveralJobsCountsThoseThatAreOver) {
  EXPECT_EQ(
      progressText({countsIn(RunState::kRunning, 2, 3, 4), countsIn(RunState::kDone, 0, 0, 5), std::nullopt}),
      "1 of 3 jobs over; 2 queued, 3 running, 9 done");
}

ClusterScript twoJobs() {
  ClusterScript script;
  script.jobs = {aJob(idOf(1), RunState::kRunning), aJob(idOf(2), RunState::kDone)};
  return script;
}

Environment withTerminal(const ScriptedCluster& cluster, const std::string& kind) {
  Environment environment = cluster.environment();
  environment["TERM"] = kind;
  return environment;
}

TEST(WaitingProgress, IsALineThatIsGoneWhenTheJobsAreOver) {
  const ScriptedCluster cluster(twoJobs());
  Terminal terminal(tarcilWith({"job", "wait", "1", "2"}), withTerminal(cluster, "xterm"));
  ASSERT_TRUE(terminal.waitFor("1 of 2 jobs over; 1 running, 1 done\x1b[K"));
  tarcil({"job", "cancel", "1"}, cluster);
  const ProcessResult result = terminal.finish();
  EXPECT_EQ(result.exitCode, 1) << result.out;
  EXPECT_THAT(result.out, HasSubstr("\r\x1b[?7l\x1b[K\x1b[?7h\r\x1b[1mJob")) << "cleared, then the result";
}

TEST(WaitingProgress, IsForTerminals) {
  const ScriptedCluster cluster(twoJobs());
  EXPECT_EQ(tarcil({"job", "wait", "2"}, cluster).err, "");
  Terminal terminal(tarcilWith({"job", "wait", "--timeout", "1s", "1"}), withTerminal(cluster, "dumb"));
  EXPECT_THAT(terminal.finish().out, Not(HasSubstr("running")));
}

TEST(WaitingProgress, OfASubmittedJobIsShownToo) {
  ClusterScript script;
  script.runsUntilCancelled = true;
  const ScriptedCluster cluster(script);
  const ScratchFolder folder;
  folder.write("job.yaml", "command: [\"true\"]\n");
  Terminal terminal(tarcilWith({"submit", "--wait", folder.at("job.yaml")}), withTerminal(cluster, "xterm"));
  ASSERT_TRUE(terminal.waitFor("1 running\x1b[K"));
  tarcil({"job", "cancel", std::to_string(kNumberOfSubmitted)}, cluster);
  EXPECT_EQ(terminal.finish().exitCode, 1);
}

}  // namespace tarcil::waiting_progress_test
