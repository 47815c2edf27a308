// Several clusters on one machine, and several commands for one cluster's folder.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/cluster.h"

namespace tarcil::neighbours_test {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

// --- Two clusters -----------------------------------------------------------------------------------------

TEST(TwoClusters, OfTheSameNamesLeaveEachOtherAlone) {
  SKIP_WITHOUT_CONTAINERS();
  SupervisedCluster first({"--servers", "2", "--rus", "2"}), second({"--servers", "2", "--rus", "2"});
  const auto startTasks = [](const SupervisedCluster& cluster, const TraceFolder& traces) {
    std::string job = cluster.submit(
        shellJob(traces.note("started") + traces.waitForGate() + traces.note("ended"), "tasks: 4\n"));
    EXPECT_TRUE(traces.waitForLines("started", 4));
    return job;
  };
  startTasks(first, first.traces());
  const std::string job = startTasks(second, second.traces());
  EXPECT_EQ(first.run({"down"}).exitCode, 0);
  // Of the same names again, while the other one runs.
  first.json({"up", "--detach", "--servers", "2", "--rus", "2"});
  EXPECT_TRUE(first.traces().waitForLines("started", 8));
  EXPECT_THAT(second.traces().lines("ended"), SizeIs(0));
  second.traces().openGate();
  const Json ended = second.ended(job);
  EXPECT_EQ(ended["state"], "done");
  for (const Json& task : ended["tasks"]) EXPECT_EQ(task["attempt"], 0) << task;
  EXPECT_THAT(second.traces().lines("started"), SizeIs(4));
  EXPECT_THAT(second.traces().lines("ended"), SizeIs(4));
  second.expectAllUnitsFree();
}

// --- Two `up` ---------------------------------------------------------------------------------------------

struct Nothing final : TestCluster {};

TEST(TwoUps, AtOnceAreOneCluster) {
  Nothing cluster;
  const auto up = [&cluster, servers = emulatedServer(cluster.traces())]() {
    return cluster.startCommand({"up", "--detach", "--emulate", servers});
  };
  Process ups[] = {up(), up(), up()};
  std::vector<int> codes;
  for (Process& one : ups) codes.push_back(one.finish().exitCode);
  EXPECT_THAT(codes, testing::UnorderedElementsAre(0, 2, 2));
  EXPECT_EQ(cluster.run({"run", "--", "sleep", "0.01"}).exitCode, 0);
  EXPECT_EQ(cluster.run({"down"}).exitCode, 0);
}

TEST(TwoUps, TheSecondSaysWhoIsBeforeIt) {
  Nothing cluster;
  const std::string path = cluster.data() + "/run/lock";
  fs::create_directories(cluster.data() + "/run");
  std::ofstream(path) << "4711\n";
  const int lock = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(lock, LOCK_EX), 0);
  const ProcessResult refused =
      cluster.run({"up", "--detach", "--emulate", emulatedServer(cluster.traces())});
  EXPECT_EQ(refused.exitCode, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("process 4711"), HasSubstr(cluster.data())));
  EXPECT_FALSE(fs::exists(cluster.data() + "/master/tokens")) << "it has begun all the same";
  ::close(lock);
}

}  // namespace tarcil::neighbours_test
