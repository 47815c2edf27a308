// A disk that answers no more, and later does: what writes to it hangs in the kernel, as with a network file
// system whose server is away.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cluster.h"
#include "tests/support/hanging_disk.h"

namespace tarcil::hanging_disk_test {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

#define SKIP_WITHOUT_HANGING_DISKS() \
  SKIP_WITHOUT_CONTAINERS();         \
  if (const std::string reason = whyNoHangingDisk(); !reason.empty()) GTEST_SKIP() << reason

// The monitor hangs with its first write, and the shim with what it writes down of the end.
TEST(MonitorsDiskHangs, AnExclusiveTaskGoesElsewhereAndNeverRunsTwice) {
  SKIP_WITHOUT_HANGING_DISKS();
  HangingDisk disk;
  ManualCluster cluster(
      {.servers = 2,
       .rus = 1,
       .masterFlags = {"--server-timeout", "3s"},
       .optionsOf = {{"server-1", {{"--data", disk.at("server-1")}, {"--disk-reserve", "0B"}}}}});
  const TraceFolder& traces = cluster.traces();
  const std::string job =
      cluster.submit(shellJob(traces.holdLock() + traces.note("started") + traces.waitForGate(),
                              "exclusive: true\nplacement: {prefer: [server-1]}\n"));
  ASSERT_TRUE(traces.waitForLines("started", 1));
  ASSERT_EQ(cluster.status(job)["tasks"][0]["server"], "server-1");
  disk.hang();
  cluster.until("it says why it does not answer", [&cluster]() {
    return cluster.logOf("server-1").find("it waits for a disk") != std::string::npos;
  });
  EXPECT_TRUE(traces.waitForLines("started", 2));
  EXPECT_FALSE(traces.isHeld(0)) << "the first copy lives on where nobody ends it";
  disk.goOn();
  cluster.until("it says that it goes on", [&cluster]() {
    return cluster.logOf("server-1").find("server-1: goes on") != std::string::npos;
  });
  traces.openGate();
  EXPECT_EQ(cluster.ended(job)["state"], "done");
  EXPECT_THAT(traces.lines("overlap"), IsEmpty());
  EXPECT_THAT(traces.lines("started"), SizeIs(2));
  cluster.expectAllUnitsFree();
}

TEST(MonitorsDiskHangs, TasksAreKeptWhereItGoesOnInTime) {
  SKIP_WITHOUT_HANGING_DISKS();
  HangingDisk disk;
  ManualCluster cluster(
      {.rus = 2, .optionsOf = {{"server-1", {{"--data", disk.at("server-1")}, {"--disk-reserve", "0B"}}}}});
  const TraceFolder& traces = cluster.traces();
  const std::string job = cluster.submit(
      shellJob(traces.note("started") + traces.waitForGate() + traces.note("ended"), "tasks: 2\n"));
  ASSERT_TRUE(traces.waitForLines("started", 2));
  disk.hang();
  traces.openGate();
  ASSERT_TRUE(traces.waitForLines("ended", 2));
  const std::string next = cluster.submit(shellJob(traces.note("next")));
  disk.goOn();
  EXPECT_EQ(cluster.ended(job)["state"], "done");
  EXPECT_EQ(cluster.ended(next)["state"], "done");
  EXPECT_THAT(traces.lines("started"), SizeIs(2));
  EXPECT_THAT(traces.lines("next"), SizeIs(1));
  cluster.expectAllUnitsFree();
}

// Its event loop goes on: what is stored waits, and nobody takes it for gone.
TEST(MastersDiskHangs, WhatIsToBeStoredWaitsAndNothingElse) {
  SKIP_WITHOUT_HANGING_DISKS();
  HangingDisk disk;
  ManualCluster cluster({.rus = 2, .masterFlags = {"--store", disk.at("store"), "--disk-reserve", "0B"}});
  const TraceFolder& traces = cluster.traces();
  const std::string running =
      cluster.submit(shellJob(traces.note("started") + traces.waitForGate() + traces.note("ended")));
  ASSERT_TRUE(traces.waitForLines("started", 1));
  disk.hang();
  Process client = cluster.startCommand({"submit", "--json", cluster.jobFile(shellJob(traces.note("next")))});
  traces.openGate();
  ASSERT_TRUE(traces.waitForLines("ended", 1));
  // As long as a peer that says nothing is borne with.
  cluster.until("it says that its disk hangs", [&cluster]() {
    return cluster.logOf("master").find("the store's disk has not answered") != std::string::npos;
  });
  EXPECT_THAT(traces.lines("next"), IsEmpty()) << "nothing runs that is not stored";
  disk.goOn();
  cluster.until("it says that it goes on", [&cluster]() {
    return cluster.logOf("master").find("the store's disk goes on") != std::string::npos;
  });
  const ProcessResult submitted = client.finish();
  ASSERT_EQ(submitted.exitCode, 0) << submitted.err;
  EXPECT_EQ(cluster.ended(Json::parse(submitted.out)["job"])["state"], "done");
  EXPECT_EQ(cluster.ended(running)["state"], "done");
  for (const char* peer : {"agent-1", "server-1"})
    EXPECT_THAT(cluster.logOf(peer), Not(HasSubstr("out of reach"))) << peer;
  EXPECT_THAT(traces.lines("started"), SizeIs(1));
  EXPECT_THAT(traces.lines("next"), SizeIs(1));
  cluster.expectAllUnitsFree();
}

// An agent has no folder of its own; what it logs may lie on such a disk.
TEST(AgentsDiskHangs, WhatItHasToPlaceIsPlacedOnceWhenItGoesOn) {
  SKIP_WITHOUT_HANGING_DISKS();
  HangingDisk disk;
  ManualCluster cluster({.rus = 1, .shellOf = {{"agent-1", "exec 2>>" + disk.at("log")}}});
  const TraceFolder& traces = cluster.traces();
  const std::string first =
      cluster.submit(shellJob(traces.note("started") + traces.waitForGate() + traces.note("ended")));
  ASSERT_TRUE(traces.waitForLines("started", 1));
  const std::string second = cluster.submit(shellJob(traces.note("second")));
  disk.hang();
  // The second job is offered to it: it logs that it commits it, and hangs.
  traces.openGate();
  ASSERT_TRUE(traces.waitForLines("ended", 1));
  cluster.until("it counts as gone", [&cluster]() {
    return cluster.run({"metrics", "master"}).out.find("tarcil_master_agent_leases 0") != std::string::npos;
  });
  disk.goOn();
  EXPECT_EQ(cluster.ended(first)["state"], "done");
  EXPECT_EQ(cluster.ended(second)["state"], "done");
  EXPECT_THAT(traces.lines("started"), SizeIs(1));
  EXPECT_THAT(traces.lines("second"), SizeIs(1));
  cluster.expectAllUnitsFree();
}

}  // namespace tarcil::hanging_disk_test
