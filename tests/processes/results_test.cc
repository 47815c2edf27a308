// Files that are kept of tasks, on a cluster of real processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/cluster.h"
#include "tests/support/scratch_folder.h"

namespace tarcil::results_test {

using testing::HasSubstr;

std::string contentOf(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// A megabyte and a half that is the same each time.
const char* const kWriteLarge = "seq 1 250000 > large; ";

TEST(Results, ComeBackByteForByteAfterTheMonitorDied) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  const std::string job = cluster.submit(
      shellJob(std::string("mkdir out; ") + kWriteLarge + "printf 'a\\0b' > out/zero; chmod 700 out/zero",
               "results: [large, out/*]\n"));
  EXPECT_EQ(cluster.ended(job)["state"], "done");
  cluster.kill("server-1");
  cluster.start("server-1");
  const ScratchFolder to;
  const auto fetched = cluster.run({"job", "fetch", job, "--to", to.at("in/here")});
  EXPECT_EQ(fetched.exitCode, 0) << fetched.err;
  EXPECT_EQ(contentOf(to.at("in/here/out/zero")), std::string("a\0b", 3));
  std::string large;
  for (int i = 1; i <= 250'000; ++i) large += std::to_string(i) + "\n";
  EXPECT_TRUE(contentOf(to.at("in/here/large")) == large);
  namespace fs = std::filesystem;
  EXPECT_NE(fs::status(to.at("in/here/out/zero")).permissions() & fs::perms::owner_exec, fs::perms::none);
  EXPECT_EQ(fs::status(to.at("in/here/large")).permissions() & fs::perms::owner_exec, fs::perms::none);

  const auto again = cluster.run({"job", "fetch", job, "out/*", "--to", to.at("in/here")});
  EXPECT_EQ(again.exitCode, 1);
  EXPECT_THAT(again.err, HasSubstr("out/zero' is there already; --force replaces"));
  EXPECT_EQ(cluster.run({"job", "fetch", job, "out/*", "--force", "--to", to.at("in/here")}).exitCode, 0);
}

TEST(Results, OfEachTaskOfAJobHoweverItEnds) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 4});
  const std::string job = cluster.submit(
      shellJob("echo task $TARCIL_TASK > report; exit $TARCIL_TASK", "tasks: 2\nresults: [report]\n"));
  EXPECT_EQ(cluster.ended(job)["state"], "failed");
  const Json files = cluster.json({"job", "files", job});
  EXPECT_EQ(files["tasks"][1]["files"][0], (Json{{"path", "report"}, {"bytes", 7}, {"mode", "644"}}));
  const ScratchFolder to;
  EXPECT_EQ(cluster.run({"job", "fetch", job, "--to", to.path()}).exitCode, 0);
  EXPECT_EQ(contentOf(to.at("0/report")), "task 0\n");
  EXPECT_EQ(contentOf(to.at("1/report")), "task 1\n");
  EXPECT_EQ(cluster.run({"job", "fetch", job + ".1", "--to", to.at("one")}).exitCode, 0);
  EXPECT_EQ(contentOf(to.at("one/report")), "task 1\n");
}

TEST(Results, OfACancelledTaskAndNoneBeforeItHasEnded) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  const TraceFolder& traces = cluster.traces();
  const std::string job = cluster.submit(shellJob(
      "echo so far > report\n" + traces.note("started") + traces.waitForGate(), "results: [report]\n"));
  traces.waitForLines("started", 1);
  const auto early = cluster.run({"job", "fetch", job});
  EXPECT_EQ(early.exitCode, 1);
  EXPECT_THAT(early.err, HasSubstr("its files are kept when it has ended"));
  EXPECT_EQ(cluster.run({"job", "cancel", job}).exitCode, 0);
  cluster.ended(job);
  const ScratchFolder to;
  EXPECT_EQ(cluster.run({"job", "fetch", job, "--to", to.path()}).exitCode, 0);
  EXPECT_EQ(contentOf(to.at("report")), "so far\n");
}

TEST(Results, OfTheLastAttempt) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  const std::string mark = cluster.traces().at("mended");
  const std::string job = cluster.submit(shellJob(
      "if test -e " + mark + "; then echo second > b; else echo first > a; exit 1; fi", "results: ['?']\n"));
  EXPECT_EQ(cluster.ended(job)["state"], "failed");
  EXPECT_EQ(cluster.json({"job", "files", job})["tasks"][0]["files"][0]["path"], "a");
  cluster.traces().write("mended", "");
  EXPECT_EQ(cluster.run({"job", "rerun", job}).exitCode, 0);
  EXPECT_EQ(cluster.ended(job)["state"], "done");
  const Json files = cluster.json({"job", "files", job})["tasks"][0]["files"];
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0]["path"], "b");
}

// It dies when files are kept and their task's end is not told.
TEST(Results, OutliveTheMonitorThatKeptThem) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.servers = 1, .rus = 2, .failing = "server-1", .failpoint = "monitor.results_kept"});
  const std::string job =
      cluster.submit(shellJob("echo kept > report; truncate -s 65M z", "results: [report, z]\n"));
  const Json status = cluster.ended(job);
  cluster.waitForFailure();
  EXPECT_EQ(status["state"], "done");
  EXPECT_THAT(status["tasks"][0]["problem"].get<std::string>(),
              HasSubstr("result files left behind: 1, 'z'"));
  const ScratchFolder to;
  EXPECT_EQ(cluster.run({"job", "fetch", job, "--to", to.path()}).exitCode, 0);
  EXPECT_EQ(contentOf(to.at("report")), "kept\n");
}

TEST(Results, OfAJobThatKeepsNone) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  const std::string job = cluster.submit(shellJob("true"));
  cluster.ended(job);
  const auto listed = cluster.run({"job", "files", job});
  EXPECT_EQ(listed.exitCode, 1);
  EXPECT_THAT(listed.err, HasSubstr("the job keeps no files: write, for example, results: [out/*.csv]"));
}

}  // namespace tarcil::results_test
