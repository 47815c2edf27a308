// Waiting, cancelling, restarting, spreading: what a job file asks for holds on a whole cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

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

TEST(Waiting, AJobSaysThatAllServersAreCordoned) {
  TraceFolder folder;
  folder.write("servers.yaml", "servers: [{name: \"s-{n}\", count: 2, rus: 4}]\n");
  ManualCluster cluster({.emulate = folder.at("servers.yaml")});
  const std::string text = "command: [sleep, \"1000\"]\n";
  const std::string why = "no server takes tasks: 2 are cordoned";
  cluster.until("the servers are there", [&]() { return cluster.json({"server", "list"}).size() == 2; });
  EXPECT_EQ(cluster.run({"server", "cordon", "s-1", "s-2"}).exitCode, 0);
  cluster.until("the agent has heard of it", [&]() {
    const ProcessResult plan = cluster.run({"plan", "--json", cluster.jobFile(text)});
    return plan.exitCode == 0 && Json::parse(plan.out)["reason"] == why;
  });
  const std::string job = cluster.submit(text);
  cluster.until("the reason is known", [&]() { return cluster.status(job)["reason"] == why; });
  EXPECT_EQ(cluster.status(job)["state"], "queued");
  EXPECT_EQ(cluster.json({"plan", cluster.jobFile(text)})["placed"], 0);
  EXPECT_EQ(cluster.run({"server", "uncordon", "s-2"}).exitCode, 0);
  cluster.until("it runs", [&]() { return cluster.status(job)["state"] == "running"; });
  EXPECT_EQ(cluster.status(job)["tasks"][0]["server"], "s-2");
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

// Five servers of four units, two behind each of the switches w1 and w2; their tasks are timers.
struct Switches : testing::Test {
  Switches() {
    cluster.until("the agent knows all servers", [this]() {
      const ProcessResult plan = cluster.run({"plan", "--json", cluster.jobFile(job(""))});
      return plan.exitCode == 0 && Json::parse(plan.out)["units"]["usable"] == 20;
    });
  }

  std::string servers() {
    folder.write("servers.yaml",
                 "servers:\n"
                 "- {name: \"w1-{n}\", count: 2, rus: 4, attributes: {switch: w1}}\n"
                 "- {name: \"w2-{n}\", count: 2, rus: 4, attributes: {switch: w2}}\n"
                 "- {name: none, rus: 4}\n");
    return folder.at("servers.yaml");
  }
  static std::string job(const std::string& more) { return "command: [sleep, \"1000\"]\n" + more; }
  // How many of the servers named are behind each switch.
  static std::map<std::string, int> behind(const std::vector<std::string>& names) {
    std::map<std::string, int> tasks;
    for (const std::string& name : names) ++tasks[name.substr(0, name.find('-'))];
    return tasks;
  }
  // Those of the job's tasks, once so many have one.
  std::vector<std::string> placesOf(const std::string& id, size_t count) const {
    std::vector<std::string> names;
    cluster.until("its tasks have places", [&]() {
      names.clear();
      const Json status = cluster.status(id);
      for (const Json& task : status["tasks"]) {
        if (task["server"].is_string()) names.push_back(task["server"].get<std::string>());
      }
      return names.size() >= count;
    });
    return names;
  }

  TraceFolder folder;
  ManualCluster cluster{{.emulate = servers()}};
};

TEST_F(Switches, HaveAtMostSoManyTasksEachOfAJobThatIsSpreadOverThem) {
  const std::string text = job("tasks: 5\nplacement: {spread: switch, at_most: 2}\n");
  const std::map<std::string, int> most = {{"w1", 2}, {"w2", 2}};
  const Json plan = cluster.json({"plan", cluster.jobFile(text)});
  EXPECT_EQ(plan["placed"], 4);
  EXPECT_GT(plan["decision"][0]["dropped"].value("spread", 0), 0);
  const std::string spread = cluster.submit(text);
  EXPECT_EQ(behind(placesOf(spread, 4)), most);
  cluster.until("the reason is known", [&]() { return cluster.status(spread)["reason"].is_string(); });
  EXPECT_THAT(cluster.status(spread)["reason"].get<std::string>(),
              testing::HasSubstr("its spread allows no more tasks on the rest"));
  EXPECT_EQ(behind(placesOf(spread, 4)), most) << "nor does the fifth go where there is no switch";
}

TEST_F(Switches, HaveAllTasksOfAJobThatIsPackedBehindOneOfThem) {
  const std::string text = job("tasks: 6\nplacement: {pack: switch}\n");
  const auto first = behind(placesOf(cluster.submit(text), 6));
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first.begin()->second, 6);
  EXPECT_NE(first.begin()->first, "none");
  const auto second = behind(placesOf(cluster.submit(text), 6));
  ASSERT_EQ(second.size(), 1u) << "two units are left behind the first";
  EXPECT_EQ(second.begin()->second, 6);
  EXPECT_NE(second.begin()->first, first.begin()->first);
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
