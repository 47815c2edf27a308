// Output of tasks on a whole cluster: nothing of a run is lost, however slowly it is read and whatever dies,
// and files of the job's choice have it too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/cluster.h"

namespace tarcil::cluster_output_test {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr int kLast = 500'000;

std::string numbersTo(int last) {
  std::string text;
  for (int i = 1; i <= last; ++i) text += std::to_string(i) + "\n";
  return text;
}

// Of the one task that writes.
uint64_t keptBytes(const ManualCluster& cluster) {
  uint64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(cluster.data())) {
    struct stat status {};
    if (entry.path().filename() == "stdout" && ::stat(entry.path().c_str(), &status) == 0)
      bytes = std::max(bytes, static_cast<uint64_t>(status.st_size));
  }
  return bytes;
}

// A run whose output is far more than what is kept, and that nobody reads yet.
class UnreadRun {
 public:
  explicit UnreadRun(ManualCluster& cluster)
      : running_(cluster.startCommand(
            {"run", "--output-limit", "64KiB", "--", "seq", "1", std::to_string(kLast)})) {
    cluster.until("output waits for whoever reads it",
                  [&cluster] { return keptBytes(cluster) > (64u << 10); });
  }
  Process& process() { return running_; }

  // The client, which is a child of the process that bounds its time.
  void kill() {
    const std::string pid = std::to_string(running_.pid());
    pid_t client = 0;
    std::ifstream("/proc/" + pid + "/task/" + pid + "/children") >> client;
    ASSERT_GT(client, 0);
    killAndAwaitEnd(client);
  }

  void expectWhole() {
    const ProcessResult result = running_.finish();
    EXPECT_EQ(result.exitCode, 0) << result.err;
    EXPECT_TRUE(result.out == numbersTo(kLast)) << result.out.size() << " bytes";
  }

 private:
  Process running_;
};

TEST(RunOutput, ArrivesWholeHoweverMuchItIs) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  const ProcessResult result =
      cluster.run({"run", "--output-limit", "256KiB", "--", "head", "-c", "50000000", "/dev/zero"});
  EXPECT_EQ(result.exitCode, 0) << result.err;
  EXPECT_EQ(result.out.size(), 50'000'000u);
}

TEST(RunOutput, WaitsForASlowReader) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  UnreadRun run(cluster);
  EXPECT_LT(keptBytes(cluster), numbersTo(kLast).size());
  run.expectWhole();
}

TEST(RunOutput, OfManyShortTasksHoldsThemBackWhileNobodyReads) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 64});
  constexpr int kTasks = 1'500;
  Process running = cluster.startCommand({"run", "--name", "short", "--tasks", std::to_string(kTasks), "--",
                                          "sh", "-c", "seq -s' ' 1000; echo end of $TARCIL_TASK"});
  cluster.until("it is held", [&cluster] {
    const Json jobs = cluster.json({"job", "list"});
    return !jobs.empty() && jobs[0]["reason"].is_string() &&
           jobs[0]["reason"].get<std::string>().starts_with("held by");
  });
  const ProcessResult result = running.finish();
  EXPECT_EQ(result.exitCode, 0) << result.err;
  EXPECT_EQ(std::ranges::count(result.out, '\n'), 2 * kTasks);
  EXPECT_EQ(cluster.status("name:short")["state"], "done");
}

TEST(RunOutput, OutlivesMonitorAndAgent) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  UnreadRun run(cluster);
  for (const char* name : {"server-1", "agent-1"}) {
    cluster.kill(name);
    cluster.start(name);
  }
  run.expectWhole();
}

TEST(RunOutput, OfSeveralTasksOnBothStreams) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 3});
  const ProcessResult result =
      cluster.run({"run", "--tasks", "3", "--output-limit", "64KiB", "--", "sh", "-c",
                   "seq -f $TARCIL_TASK-%.0f 1 100000 >&2 & seq -f $TARCIL_TASK-%.0f 1 100000; wait"});
  EXPECT_EQ(result.exitCode, 0);
  for (const std::string* text : {&result.out, &result.err}) {
    std::vector<std::vector<std::string>> found(3);
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);) {
      ASSERT_THAT(line, testing::MatchesRegex("[012]-[0-9]+"));
      found[static_cast<size_t>(line[0] - '0')].push_back(line);
    }
    for (size_t task = 0; task < found.size(); ++task) {
      ASSERT_EQ(found[task].size(), 100'000u);
      for (size_t i = 0; i < found[task].size(); ++i)
        ASSERT_EQ(found[task][i], std::to_string(task) + "-" + std::to_string(i + 1));
    }
  }
}

TEST(RunOutput, ThatNobodyReadsDoesNotKeepItFromBeingCancelled) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  UnreadRun run(cluster);
  run.process().signal(SIGINT);
  EXPECT_TRUE(run.process().waitFor("cancelling job"));
  const ProcessResult result = run.process().finish();
  EXPECT_EQ(result.exitCode, 130);
  EXPECT_TRUE(numbersTo(kLast).starts_with(result.out));
}

// A task whose run was killed waits for nobody for ever; it can be cancelled meanwhile.
TEST(RunOutput, OfARunThatWasKilledDoesNotKeepItsTaskFromBeingCancelled) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  UnreadRun run(cluster);
  run.kill();
  const Json jobs = cluster.json({"job", "list"});
  const std::string job = jobs[0]["id"];
  EXPECT_EQ(cluster.run({"job", "cancel", job}).exitCode, 0);
  EXPECT_EQ(cluster.ended(job)["state"], "cancelled");
}

std::string textIn(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(OutputFiles, HaveTheOutputOfEachTaskAndAttempt) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  const TraceFolder& logs = cluster.traces();
  const std::string job = cluster.submit(shellJob(
      "echo task $TARCIL_TASK, attempt $TARCIL_ATTEMPT; exit $((1 - TARCIL_ATTEMPT))",
      "tasks: 2\nrestart: {attempts: 1, backoff: 0s}\noutput: " + logs.at("{index}-{attempt}.out") + "\n"));
  EXPECT_EQ(cluster.ended(job)["state"], "done");
  for (const std::string task : {"0", "1"}) {
    for (const std::string attempt : {"0", "1"}) {
      EXPECT_EQ(textIn(logs.at(task + "-" + attempt + ".out")),
                "task " + task + ", attempt " + attempt + "\n");
    }
  }
}

TEST(ClusterOutput, OfAnEarlierAttemptIsShown) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  const std::string job = cluster.submit(shellJob("echo attempt $TARCIL_ATTEMPT; test $TARCIL_ATTEMPT = 7",
                                                  "restart: {attempts: 7, backoff: 0s}\n"));
  const Json task = cluster.ended(job)["tasks"][0];
  EXPECT_EQ(task["earlier"].size(), 5u) << "the last five of seven";
  EXPECT_EQ(task["earlier"][0]["attempt"], 2);
  const auto logs = [&](const std::string& attempt) {
    return cluster.run({"job", "logs", "--attempt", attempt, job + ".0"});
  };
  EXPECT_EQ(logs("2").out, "attempt 2\n");
  EXPECT_EQ(logs("7").out, "attempt 7\n");
  const ProcessResult forgotten = logs("1");
  EXPECT_EQ(forgotten.exitCode, 1);
  EXPECT_THAT(forgotten.err, HasSubstr("has no attempt 1 that is kept: there are 2, 3, 4, 5, 6 and 7"));
  const Json both = cluster.json({"job", "logs", "--attempt", "3", job});
  EXPECT_EQ(both["tasks"][0]["stdout"], "attempt 3\n");
}

TEST(OutputFiles, ThatCannotBeWrittenAreTheJobsOwnFault) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.servers = 2, .rus = 2});
  const std::string path = cluster.traces().at("missing/out");
  const Json ended = cluster.ended(cluster.submit(shellJob("true", "output: " + path + "\n")));
  EXPECT_EQ(ended["state"], "failed");
  EXPECT_EQ(ended["tasks"][0]["previous"], Json()) << "another server would do no better";
  const std::string reason = ended["tasks"][0]["problem"];
  EXPECT_THAT(reason,
              HasSubstr("cannot write to '" + path + "' (output of the job): No such file or directory"));
}

TEST(ClusterOutput, IsFollowedFromOneAttemptToTheNext) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  const std::string mark = cluster.traces().at("mark");
  const std::string script = "echo attempt $TARCIL_ATTEMPT; until test -e " + mark +
                             "; do sleep 0.01; done; test $TARCIL_ATTEMPT = 1";
  const std::string file = cluster.jobFile(shellJob(script, "restart: {attempts: 1}\n"));
  const std::string id = cluster.json({"submit", file})["job"];
  Process follower = cluster.startCommand({"job", "logs", "-f", id});
  ASSERT_TRUE(follower.waitFor("attempt 0\n"));
  cluster.traces().write("mark", "");
  EXPECT_EQ(follower.finish().out, "attempt 0\nattempt 1\n");
}

}  // namespace tarcil::cluster_output_test
