// Tasks that press more than their profiles say, on a whole cluster.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/cluster.h"

namespace tarcil::charges_test {

// Uses up a core, and most of a gigabyte of memory, until the gate is open.
std::string hog(const TraceFolder& traces) {
  return shellJob("dd if=/dev/zero of=/dev/null bs=900M count=1000000 status=none & hog=$!; " +
                  traces.waitForGate() + "kill $hog");
}

TEST(Charges, AHogWithoutAProfileIsSeenChargedShownAndAvoided) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster(
      {.servers = 1, .rus = 2, .optionsOf = {{"server-1", {{"--pressure-period", "200ms"}}}}});
  const TraceFolder& traces = cluster.traces();
  const std::string job = cluster.submit(hog(traces));
  const auto task = [&]() { return cluster.status(job)["tasks"][0]; };
  cluster.until("the hog is charged for the core that it uses",
                [&]() { return task()["charged"].is_object() && task()["charged"]["core"] >= 20; });

  const Json server = cluster.json({"server", "show", "server-1"});
  EXPECT_GE(server["contention"]["core"], server["background"]["core"].get<int>() + 20);
  const Json shown = server["tasks"][0];
  EXPECT_EQ(shown["caused"]["core"], 0) << "its profile says nothing";
  EXPECT_GE(shown["charged"]["core"], 20);
  EXPECT_GT(shown["charged"]["memory_capacity"], 0);
  EXPECT_NE(std::find(shown["measured"].begin(), shown["measured"].end(), "core"), shown["measured"].end());
  EXPECT_NE(cluster.run({"job", "status", job}).out.find("Causes, as measured:"), std::string::npos);

  const std::string sensitive = cluster.submit(
      shellJob("true", "profile: {caused: {core: 1}, tolerated: {core: 5}}\nquality: {max_wait: 1h}\n"));
  cluster.until("the sensitive job waits for a better slot",
                [&]() { return cluster.status(sensitive)["reason"].is_string(); });
  EXPECT_EQ(cluster.status(sensitive)["state"], "queued");
  // Other tests on this machine might keep it waiting longer.
  EXPECT_EQ(cluster.run({"job", "cancel", sensitive}).exitCode, 0);

  traces.openGate();
  EXPECT_EQ(cluster.ended(job)["state"], "done");
  EXPECT_EQ(cluster.ended(sensitive)["state"], "cancelled");
  cluster.expectAllUnitsFree();
}

TEST(Charges, WhatRunsOfAnApplicationCauseIsLearnedForTheirUser) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster(
      {.servers = 1, .rus = 3, .optionsOf = {{"server-1", {{"--pressure-period", "200ms"}}}}});
  const TraceFolder& traces = cluster.traces();
  const std::string job =
      cluster.submit(hog(traces) + "tasks: 3\nprofile: {application: hog, caused: {core: 1}}\n");
  cluster.until("each of its tasks is measured", [&]() {
    const Json tasks = cluster.status(job)["tasks"];
    return std::ranges::all_of(
        tasks, [](const Json& task) { return task["charged"].is_object() && task["charged"]["core"] >= 5; });
  });
  traces.openGate();
  ASSERT_EQ(cluster.ended(job)["state"], "done");

  const Json known = cluster.json({"profile", "show", "hog"});
  EXPECT_EQ(known["observed"]["runs"], 3);
  EXPECT_GE(known["observed"]["caused"]["core"]["mean"], 5.0);
  EXPECT_GE(known["caused"]["core"], 5);
  EXPECT_TRUE(known["stored"].is_null());
  EXPECT_NE(cluster.run({"profile", "list"}).out.find("hog"), std::string::npos);

  const std::string next = cluster.submit(shellJob("sleep 600", "application: hog\n"));
  cluster.until("the next job runs", [&]() { return cluster.status(next)["state"] == "running"; });
  EXPECT_GE(cluster.json({"server", "show", "server-1"})["tasks"][0]["caused"]["core"], 5)
      << "its profile is what was learned";
  EXPECT_EQ(cluster.run({"job", "cancel", next}).exitCode, 0);
  EXPECT_EQ(cluster.ended(next)["state"], "cancelled");
  ASSERT_EQ(cluster.run({"profile", "promote", "hog"}).exitCode, 0);
  EXPECT_EQ(cluster.json({"profile", "show", "hog"})["revision"], 1);
}

}  // namespace tarcil::charges_test
