// Waiting, cancelling, restarting, spreading: what a job file asks for holds on a whole cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/support/cluster.h"

namespace tarcil::processes_policies_test {

TEST(Waiting, JobLargerThanWhatIsFreeSaysSoAndThenRuns) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  const TraceFolder& traces = cluster.traces();
  const std::string first = cluster.submit(shellJob(traces.note("first") + traces.waitForGate()));
  traces.waitForLines("first", 1);
  const std::string second = cluster.submit(shellJob(traces.note("second"), "rus_per_task: 2\n"));
  cluster.until("the reason is known",
                [&cluster, &second]() { return cluster.status(second)["reason"].is_string(); });
  const Json waiting = cluster.status(second);
  EXPECT_EQ(waiting["state"], "queued");
  EXPECT_THAT(waiting["reason"].get<std::string>(), testing::HasSubstr("free"));
  traces.openGate();
  EXPECT_EQ(cluster.ended(second)["state"], "done");
  EXPECT_EQ(cluster.ended(first)["state"], "done");
}

TEST(Cancel, GivesARunningTaskItsGraceAndThenKillsIt) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  const TraceFolder& traces = cluster.traces();
  const std::string job =
      cluster.submit(shellJob("trap '" + traces.note("asked") + "' TERM; " + traces.note("started") +
                                  "while [ -d " + traces.at("") + " ]; do sleep 0.02; done",
                              "grace: 3s\n"));
  traces.waitForLines("started", 1);
  EXPECT_EQ(cluster.run({"job", "cancel", job}).exitCode, 0);
  const Json status = cluster.ended(job);
  EXPECT_EQ(status["state"], "cancelled");
  EXPECT_EQ(status["tasks"][0]["signal"], 9);
  EXPECT_EQ(traces.lines("asked").size(), 1u);
  cluster.expectAllUnitsFree();
}

TEST(Cancel, EndsAQueuedJobAtOnce) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 1});
  const TraceFolder& traces = cluster.traces();
  const std::string first = cluster.submit(shellJob(traces.note("first") + traces.waitForGate()));
  traces.waitForLines("first", 1);
  const std::string second = cluster.submit(shellJob(traces.note("second")));
  EXPECT_EQ(cluster.run({"job", "cancel", second}).exitCode, 0);
  EXPECT_EQ(cluster.status(second)["state"], "cancelled");
  traces.openGate();
  cluster.ended(first);
  cluster.expectAllUnitsFree();
  EXPECT_TRUE(traces.lines("second").empty());
}

TEST(Restart, FailingTaskIsTriedAgainAsOftenAsAsked) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  const std::string job = cluster.submit(
      shellJob(cluster.traces().note("tries") + "exit 4", "restart: {attempts: 2, backoff: 10ms}\n"));
  const Json status = cluster.ended(job);
  EXPECT_EQ(status["state"], "failed");
  EXPECT_EQ(status["tasks"][0]["exit_code"], 4);
  EXPECT_EQ(cluster.traces().lines("tries").size(), 3u);
  cluster.expectAllUnitsFree();
}

TEST(Restart, TaskThatSucceedsIsNotTriedAgain) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 2});
  const TraceFolder& traces = cluster.traces();
  const std::string job =
      cluster.submit(shellJob(traces.note("tries") + "[ $(wc -l < " + traces.at("tries") + ") = 2 ]",
                              "restart: {attempts: 5, backoff: 10ms}\n"));
  EXPECT_EQ(cluster.ended(job)["state"], "done");
  EXPECT_EQ(traces.lines("tries").size(), 2u);
}

TEST(Spread, AtMostSoManyTasksAreOnOneServer) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.servers = 2, .rus = 4});
  const TraceFolder& traces = cluster.traces();
  const std::string job = cluster.submit(shellJob(traces.note("started") + traces.waitForGate(),
                                                  "tasks: 4\nplacement: {spread: server, at_most: 2}\n"));
  traces.waitForLines("started", 4);
  std::map<std::string, int> tasks;
  const Json status = cluster.status(job);
  for (const Json& task : status["tasks"]) ++tasks[task["server"]];
  EXPECT_EQ(tasks, (std::map<std::string, int>{{"server-1", 2}, {"server-2", 2}}));
  traces.openGate();
  EXPECT_EQ(cluster.ended(job)["state"], "done");
}

TEST(Gang, WaitsUntilThereIsRoomForAll) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({.rus = 4});
  const TraceFolder& traces = cluster.traces();
  const std::string first =
      cluster.submit(shellJob(traces.note("first") + traces.waitForGate(), "tasks: 2\n"));
  traces.waitForLines("first", 2);
  const std::string gang = cluster.submit(shellJob(traces.note("gang"), "tasks: 3\nschedule: gang\n"));
  cluster.until("the reason is known",
                [&cluster, &gang]() { return cluster.status(gang)["reason"].is_string(); });
  const Json status = cluster.status(gang);
  for (const Json& task : status["tasks"]) EXPECT_EQ(task["state"], "queued");
  EXPECT_TRUE(traces.lines("gang").empty());
  traces.openGate();
  EXPECT_EQ(cluster.ended(gang)["state"], "done");
  EXPECT_EQ(traces.lines("gang").size(), 3u);
  cluster.ended(first);
}

}  // namespace tarcil::processes_policies_test
