// Tasks that require servers, of which some are not there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cluster.h"

namespace tarcil::processes_require_test {

using testing::HasSubstr;

// Server "server-2" is down.
struct Require : testing::Test {
  Require() {
    cluster.until("both servers are up", [&]() { return up("server-1") && up("server-2"); });
    cluster.kill("server-2");
    cluster.until("one is down", [&]() { return !up("server-2"); });
  }

  bool up(const std::string& name) const {
    for (const Json& server : cluster.json({"server", "list"})) {
      if (server["name"] == name) return server["state"] == "up";
    }
    return false;
  }
  Json task(const std::string& job, size_t index) const { return cluster.status(job)["tasks"].at(index); }

  ManualCluster cluster{{.servers = 2}};
};

TEST_F(Require, ATaskWaitsForItsServerAndTheOthersRun) {
  SKIP_WITHOUT_CONTAINERS();
  const std::string text =
      "command: [\"true\"]\ntasks: 3\nplacement: {require: {0: [server-2], 1: [server-1, rack = rack-1]}}\n";
  const std::string job = cluster.submit(text);
  for (const size_t other : {1, 2}) {
    cluster.until("the others run", [&]() { return task(job, other)["state"] == "done"; });
  }
  const std::string why =
      "task 0 requires server in (server-2): no server that suits it takes tasks: 1 is down";
  cluster.until("the reason is known", [&]() { return cluster.status(job)["reason"] == why; });
  EXPECT_EQ(task(job, 0)["state"], "queued");
  const Json plan = cluster.json({"plan", cluster.jobFile(text)});
  EXPECT_EQ(plan["placed"], 2);
  EXPECT_EQ(plan["reason"], why);
  cluster.start("server-2");
  EXPECT_EQ(cluster.ended(job)["state"], "done");
  EXPECT_EQ(task(job, 0)["server"], "server-2");
}

TEST_F(Require, AJobWaitsForItsServers) {
  SKIP_WITHOUT_CONTAINERS();
  const std::string job = cluster.submit("command: [\"true\"]\ntasks: 2\nplacement: {require: [server-2]}\n");
  cluster.until("the reason is known", [&]() { return cluster.status(job)["reason"].is_string(); });
  EXPECT_EQ(cluster.status(job)["reason"], "no server that suits it takes tasks: 1 is down");
  cluster.start("server-2");
  for (const Json& each : cluster.ended(job)["tasks"]) EXPECT_EQ(each["server"], "server-2");
}

TEST_F(Require, ALateBoundTaskWaitsForItsServer) {
  SKIP_WITHOUT_CONTAINERS();
  const std::string job = cluster.submit(
      "command: [\"true\"]\npolicy: late-binding\ntasks: 2\nplacement: {require: {1: [server-2]}}\n");
  cluster.until("the other has run", [&]() { return task(job, 0)["state"] == "done"; });
  EXPECT_EQ(task(job, 1)["state"], "queued");
  const std::string why = "task 1 requires server in (server-2): none of these servers is up";
  const Json waiting = cluster.status(job);
  EXPECT_EQ(waiting["state"], "running");
  EXPECT_EQ(waiting["reason"], why);
  EXPECT_THAT(cluster.run({"job", "status", job}).out, HasSubstr("Waits for = " + why));
  EXPECT_EQ(cluster.json({"job", "explain", job})["reason"], why);
  cluster.start("server-2");
  const Json ended = cluster.ended(job);
  EXPECT_EQ(ended["state"], "done");
  EXPECT_TRUE(ended["reason"].is_null());
  EXPECT_EQ(task(job, 1)["server"], "server-2");
}

TEST_F(Require, ALateBoundJobThatHasAServerThatIsUpSaysNothingOfTheOthers) {
  SKIP_WITHOUT_CONTAINERS();
  const std::string job =
      cluster.submit(shellJob(cluster.traces().note("started") + cluster.traces().waitForGate(),
                              "policy: late-binding\nplacement: {require: [server-2, server-1]}\n"));
  ASSERT_TRUE(cluster.traces().waitForLines("started", 1));
  EXPECT_TRUE(cluster.status(job)["reason"].is_null());
  cluster.traces().openGate();
  EXPECT_EQ(cluster.ended(job)["state"], "done");
}

TEST_F(Require, AGangWaitsForServersThatAreDownAlsoWhenTheyAreRemoved) {
  SKIP_WITHOUT_CONTAINERS();
  const std::string text = "command: [\"true\"]\ntasks: 6\nschedule: gang\n";
  const std::string file = cluster.jobFile(text);
  const std::string why =
      "waiting for 6 slots at once (gang); with all that are up and take tasks there are 4";
  const std::string job = cluster.submit(text);
  cluster.until("the reason is known", [&]() { return cluster.status(job)["reason"] == why; });
  EXPECT_EQ(cluster.json({"plan", file})["reason"], why);

  EXPECT_EQ(cluster.run({"server", "remove", "server-2"}).exitCode, 0);
  cluster.until("nobody counts on it any more", [&]() { return cluster.run({"plan", file}).exitCode == 1; });
  EXPECT_THAT(cluster.run({"submit", file}).err, HasSubstr("the servers that suit it have 4 for it"));
  EXPECT_EQ(cluster.status(job)["state"], "queued");
  EXPECT_EQ(cluster.status(job)["reason"], why) << "it was taken, and the server may come back";
  cluster.start("server-2");
  EXPECT_EQ(cluster.ended(job)["state"], "done");
}

TEST_F(Require, ServersThatAreNotThereAreRefused) {
  const auto refused = [&](const std::string& require) {
    const ProcessResult result = cluster.run(
        {"submit",
         cluster.jobFile("command: [\"true\"]\ntasks: 2\nplacement: {require: " + require + "}\n")});
    EXPECT_EQ(result.exitCode, 1);
    return result.err;
  };
  EXPECT_THAT(refused("[nowhere]"), HasSubstr("no server meets the constraint server in (nowhere)"));
  EXPECT_THAT(refused("{1: [nowhere]}"),
              HasSubstr("task 1 requires server in (nowhere): no server meets the constraint"));
  EXPECT_THAT(refused("{1: [gpu exists]}"), HasSubstr("no server has the attribute gpu"));
  EXPECT_TRUE(cluster.json({"job", "list"}).empty());
}

}  // namespace tarcil::processes_require_test
