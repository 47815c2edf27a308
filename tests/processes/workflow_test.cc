// Jobs that start after others, on a cluster of real processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cluster.h"

namespace tarcil::workflow_test {

using testing::HasSubstr;

// The job's number.
std::string submit(ManualCluster& cluster, const std::string& file, std::vector<std::string> flags = {}) {
  flags.insert(flags.begin(), {"submit"});
  flags.push_back(file);
  return cluster.json(flags)["number"].dump();
}

TEST(Workflow, GoesOnAfterAFailureThatIsRunAgainAndAfterTheDeathOfTheMaster) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  const std::string mark = cluster.traces().at("mended");
  const std::string first = submit(cluster, cluster.jobFile(shellJob("test -e " + mark, "name: first\n")));
  const std::string second = submit(
      cluster,
      cluster.jobFile(shellJob("echo second", "name: second\nafter: {ok: [" + first + "], unmet: hold}\n")));
  const std::string third = submit(cluster, cluster.jobFile(shellJob("echo third", "name: third\n")),
                                   {"--after", "ok:name:second"});
  EXPECT_EQ(cluster.run({"job", "wait", first}).exitCode, 1);
  EXPECT_THAT(cluster.run({"job", "status", second}).out,
              HasSubstr("waits for first (" + first + "), which failed: run that again (tarcil job rerun " +
                        first + ")"));
  cluster.kill("master");
  cluster.start("master");
  EXPECT_THAT(cluster.json({"job", "status", third})["reason"].get<std::string>(),
              HasSubstr("starts after second (" + second + ")"));
  cluster.traces().write("mended", "");
  EXPECT_EQ(cluster.run({"job", "rerun", "name:first"}).exitCode, 0);
  EXPECT_EQ(cluster.run({"job", "wait", first, second, third}).exitCode, 0);
  EXPECT_EQ(cluster.run({"job", "logs", third}).out, "third\n");
  EXPECT_EQ(cluster.json({"job", "status", first})["tasks"][0]["attempt"], 1);
}

TEST(Workflow, ThatIsChosenIsRunAgainInTheOrderOfItsJobs) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  const std::string mark = cluster.traces().at("mended");
  const std::string first = submit(cluster, cluster.jobFile(shellJob("test -e " + mark)));
  const std::string second = submit(cluster, cluster.jobFile(shellJob("true")), {"--after", first});
  const std::string third = submit(cluster, cluster.jobFile(shellJob("true")), {"--after", second});
  EXPECT_EQ(cluster.run({"job", "wait", third}).exitCode, 1);
  const Json never = cluster.json({"job", "status", third})["tasks"][0];
  EXPECT_EQ(never["state"], "cancelled");
  EXPECT_EQ(never["exit_code"], Json()) << "it has never run";
  const std::string done = submit(cluster, cluster.jobFile(shellJob("true")));
  EXPECT_EQ(cluster.run({"job", "wait", done}).exitCode, 0);
  cluster.traces().write("mended", "");
  const ProcessResult named = cluster.run({"job", "rerun", done, third, second, first});
  EXPECT_EQ(named.exitCode, 1);
  EXPECT_THAT(named.out, HasSubstr("Refused = " + done + ": job " + done + " is done"));
  EXPECT_EQ(cluster.run({"job", "wait", first, second, third}).exitCode, 0);
}

TEST(Workflow, ThatIsReleasedWithAllOtherJobsStillStartsInItsOrder) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  const std::string file = cluster.jobFile(shellJob("true"));
  const std::string held = submit(cluster, file, {"--hold"});
  const std::string before = submit(cluster, file, {"--start-after", "+3h"});
  const std::string after = submit(cluster, file, {"--after", before});
  const Json released = cluster.json({"job", "release", "--all"});
  ASSERT_EQ(released.size(), 3u);
  for (const Json& job : released) EXPECT_EQ(job["changed"], job["number"].dump() == held) << job;
  EXPECT_EQ(cluster.run({"job", "wait", held}).exitCode, 0);
  EXPECT_EQ(cluster.json({"job", "status", before})["state"], "queued");
  EXPECT_EQ(cluster.json({"job", "status", after})["state"], "queued");
  EXPECT_EQ(cluster.run({"job", "release", before}).exitCode, 0);
  EXPECT_EQ(cluster.run({"job", "wait", before, after}).exitCode, 0);
}

TEST(Workflow, OfTasksOneByOne) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  const std::string first =
      submit(cluster, cluster.jobFile(shellJob("test $TARCIL_TASK != 1", "tasks: 3\n")));
  const std::string second =
      submit(cluster, cluster.jobFile(shellJob("true", "tasks: 3\n")), {"--after", "each:" + first});
  EXPECT_EQ(cluster.run({"job", "wait", second}).exitCode, 1);
  const Json status = cluster.json({"job", "status", second});
  EXPECT_EQ(status["state"], "cancelled");
  EXPECT_EQ(status["tasks"][0]["state"], "done");
  EXPECT_EQ(status["tasks"][1]["state"], "cancelled");
  EXPECT_EQ(status["tasks"][2]["state"], "done");
}

TEST(Workflow, OverAnInputListTaskByTask) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  const std::string first = submit(
      cluster, cluster.jobFile(
                   "command: [sh, -c, 'echo $TARCIL_ITEM {item} {index}']\nitems: [a, b c]\nname: list\n"));
  const std::string second = submit(
      cluster, cluster.jobFile("command: [echo, '{item}']\nitems: {range: 10..20, step: 10}\nafter: {each: " +
                               first + "}\n"));
  EXPECT_EQ(cluster.run({"job", "wait", second}).exitCode, 0);
  EXPECT_EQ(cluster.run({"job", "logs", "--all", first}).out, "0: a a 0\n1: b c b c 1\n");
  EXPECT_EQ(cluster.run({"job", "logs", second + ".1"}).out, "20\n");
  EXPECT_EQ(cluster.json({"job", "status", first})["tasks"][1]["item"], "b c");
}

TEST(Workflow, ThatWouldBeCancelledAtOnceIsToldBeforehand) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  const std::string failed = submit(cluster, cluster.jobFile(shellJob("exit 3", "name: first\n")));
  cluster.ended(failed);
  const std::string next = cluster.jobFile(shellJob("true"));
  const std::string dry = cluster.run({"submit", "--dry-run", "--after", failed, next}).out;
  EXPECT_THAT(dry,
              HasSubstr("Would be cancelled = first (" + failed + "), which it was to start after, failed"));
  EXPECT_EQ(cluster.json({"plan", "--after", failed, next})["cancelled"], true);
  const Json held = cluster.json({"plan", "--after", failed, "--hold-unmet", next});
  EXPECT_EQ(held["cancelled"], false);
  EXPECT_THAT(held["after_reason"].get<std::string>(), HasSubstr("waits for first (" + failed + ")"));
}

TEST(Workflow, RefusesWhatItCannotWaitFor) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  const std::string file = cluster.jobFile("command: [\"true\"]\nafter: 99\n");
  const auto unknown = cluster.run({"submit", file});
  EXPECT_EQ(unknown.exitCode, 2);
  EXPECT_THAT(unknown.err, HasSubstr(file + ":2:8: after: no job has the number 99"));
  EXPECT_EQ(cluster.run({"submit", "--dry-run", file}).err, unknown.err);
  const std::string never(32, 'a');
  const auto dry =
      cluster.run({"submit", "--dry-run", "--after", "any:" + never, cluster.jobFile(shellJob("true"))});
  EXPECT_EQ(dry.exitCode, 1);
  EXPECT_THAT(dry.err, HasSubstr("has no job " + never + " that can be waited for"));
  const auto option = cluster.run({"submit", "--after", "ok:,any:1", cluster.jobFile(shellJob("true"))});
  EXPECT_EQ(option.exitCode, 2);
  EXPECT_THAT(option.err, HasSubstr("--after: a job is missing"));
  EXPECT_EQ(cluster.json({"job", "list"}).size(), 0u) << "nothing was submitted";
  const std::string late =
      cluster.json({"submit", cluster.jobFile(shellJob("true", "policy: late-binding\n"))})["number"].dump();
  EXPECT_THAT(cluster.run({"submit", "--after", late, cluster.jobFile(shellJob("true"))}).err,
              HasSubstr("late-bound"));
}

}  // namespace tarcil::workflow_test
