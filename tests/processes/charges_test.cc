// Tasks that press more than their profiles say, on a whole cluster.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/model/resources.h"
#include "tests/support/cluster.h"

namespace tarcil::charges_test {

// Presses on one resource, in the background of a shell that waits until the gate is open.
struct Hog {
  const char* resource;
  const char* command;
  int least;  // pressure of one that is surely more than nothing, whatever else runs here
};

const Hog kHogs[] = {
    {"core", "sh -c 'while :; do :; done'", 10},
    {"memory_capacity",
     // A twelfth of the machine's memory: beside three of them nobody who minds is fast enough.
     "python3 -c 'import os, time\nmemory = b\"x\" * (os.sysconf(\"SC_PHYS_PAGES\") * "
     "os.sysconf(\"SC_PAGE_SIZE\") // 12)\ntime.sleep(600)'",
     6},
    {"disk_bandwidth",
     "sh -c 'while :; do dd if=/dev/zero of=written bs=1M count=100 oflag=direct status=none; done'", 2},
    {"network_bandwidth",
     "python3 -c 'import socket, time\nto = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\nwhile True:\n  "
     "to.sendto(bytes(20000), (\"127.0.0.1\", 9)); time.sleep(0.001)'",
     4},
};

std::string jobOf(const Hog& hog, const TraceFolder& traces) {
  return shellJob(std::string(hog.command) + " & hog=$!; " + traces.waitForGate() +
                  "kill $hog; wait $hog; exit 0");
}

struct Charges : testing::TestWithParam<Hog> {
  void SetUp() override { SKIP_WITHOUT_CONTAINERS(); }

  // Loopback stands for a network here: the only one that a test may use.
  ManualCluster cluster{{.servers = 1,
                         .rus = 4,
                         .optionsOf = {{"server-1",
                                        {{"--pressure-period", "200ms"},
                                         {"--network-interface", "lo"},
                                         {"--network-bandwidth", "100MB"}}}}}};
  const std::string resource = GetParam().resource;

  int of(const Json& pressures) const { return pressures.is_object() ? pressures[resource].get<int>() : 0; }
};

TEST_P(Charges, OfAHogWithoutAProfileAreSeenChargedShownAvoidedAndLearned) {
  const int least = GetParam().least;
  const TraceFolder& traces = cluster.traces();
  const std::string job =
      cluster.submit(jobOf(GetParam(), traces) + "tasks: 3\nprofile: {application: hog, caused: {l2: 1}}\n");
  cluster.until("each hog is charged for what it does", [&]() {
    const Json tasks = cluster.status(job)["tasks"];
    return std::ranges::all_of(tasks, [&](const Json& task) { return of(task["charged"]) >= least; });
  });
  const Json server = cluster.json({"server", "show", "server-1"});
  // Whatever else runs on this machine: it is no more than everything.
  EXPECT_GE(of(server["contention"]), std::min(kMaxPressure, of(server["background"]) + 3 * least));
  const Json shown = server["tasks"][0];
  EXPECT_EQ(of(shown["caused"]), 0) << "its profile says nothing";
  EXPECT_GE(of(shown["charged"]), least);
  EXPECT_NE(std::find(shown["measured"].begin(), shown["measured"].end(), resource), shown["measured"].end());
  for (const char* verb : {"status", "explain"}) {
    EXPECT_NE(cluster.run({"job", verb, job}).out.find("Causes, as measured:"), std::string::npos) << verb;
  }
  const Json explained = cluster.json({"job", "explain", job});
  EXPECT_EQ(of(explained["declared"]), 0);
  EXPECT_GE(of(explained["decision"][0]["charged"]), least);

  const std::string sensitive = cluster.submit(shellJob(
      "true", "profile: {caused: {l2: 1}, tolerated: {" + resource + ": 1}}\nquality: {max_wait: 1h}\n"));
  cluster.until("the sensitive job waits for a better slot",
                [&]() { return cluster.status(sensitive)["reason"].is_string(); });
  EXPECT_EQ(cluster.status(sensitive)["state"], "queued");
  // Other tests on this machine might keep it waiting longer.
  EXPECT_EQ(cluster.run({"job", "cancel", sensitive}).exitCode, 0);
  EXPECT_EQ(cluster.ended(sensitive)["state"], "cancelled");

  traces.openGate();
  ASSERT_EQ(cluster.ended(job)["state"], "done");
  const Json known = cluster.json({"profile", "show", "hog"});
  EXPECT_EQ(known["observed"]["runs"], 3);
  EXPECT_GE(known["observed"]["caused"][resource]["mean"], least);
  EXPECT_GE(of(known["caused"]), least);
  EXPECT_TRUE(known["stored"].is_null());
  EXPECT_NE(cluster.run({"profile", "list"}).out.find("hog"), std::string::npos);

  const std::string next = cluster.submit(shellJob("sleep 600", "application: hog\n"));
  cluster.until("the next job runs", [&]() { return cluster.status(next)["state"] == "running"; });
  EXPECT_GE(of(cluster.json({"server", "show", "server-1"})["tasks"][0]["caused"]), least)
      << "its profile is what was learned";
  EXPECT_EQ(cluster.run({"job", "cancel", next}).exitCode, 0);
  EXPECT_EQ(cluster.ended(next)["state"], "cancelled");
  ASSERT_EQ(cluster.run({"profile", "promote", "hog"}).exitCode, 0);
  EXPECT_EQ(cluster.json({"profile", "show", "hog"})["revision"], 1);
  cluster.expectAllUnitsFree();
}

INSTANTIATE_TEST_SUITE_P(Undeclared, Charges, testing::ValuesIn(kHogs),
                         [](const testing::TestParamInfo<Hog>& info) {
                           return std::string(info.param.resource);
                         });

}  // namespace tarcil::charges_test
