// What running tasks take up on the disk.
#include <gmock/gmock.h>

#include "tests/monitor/container/container_fixture.h"

namespace tarcil::container_disk_test {

using testing::HasSubstr;
using testing::StartsWith;

constexpr uint64_t kLimit = 2 << 20;

class ContainerDiskTest : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_CONTAINERS();
    options_ = optionsIn(folder_.path());
    options_.diskPause = std::chrono::milliseconds(1);
  }

  Containers& containers() {
    if (!containers_) containers_.emplace(options_);
    return *containers_;
  }
  void succeed() { containers_.reset(); }

  // Writes so many bytes to each of these files and waits.
  static LaunchSpec writer(AllocationId allocation, uint64_t bytes, const std::string& files) {
    return script(allocation, "for file in " + files + "; do head -c " + std::to_string(bytes) +
                                  " /dev/zero > $file; done; echo written; exec sleep 30");
  }
  static LaunchSpec limited(LaunchSpec spec) {
    spec.limits.diskBytes = kLimit;
    return spec;
  }

  ContainerOptions options_;

 private:
  TemporaryFolder folder_;
  std::optional<Containers> containers_;
};

TEST_F(ContainerDiskTest, ATaskThatTakesUpMoreThanItsLimitIsKilledAndTheLimitNamed) {
  const TaskEnd end = containers().run(limited(writer(1, kLimit + 1, "file")));
  EXPECT_EQ(end.cause, EndCause::kExited);
  EXPECT_EQ(end.signal, SIGKILL);
  EXPECT_THAT(end.problem, StartsWith("killed: it took up "));
  EXPECT_THAT(end.problem, HasSubstr(" on the disk, more than its 2MiB (limits.disk of the job)"));
}

TEST_F(ContainerDiskTest, WorkingDirectoryAndTmpCountTogether) {
  const TaskEnd end = containers().run(limited(writer(1, kLimit * 2 / 3, "file /tmp/file")));
  EXPECT_EQ(end.signal, SIGKILL);
  EXPECT_THAT(end.problem, HasSubstr("limits.disk"));
}

TEST_F(ContainerDiskTest, ATaskThatStaysBelowItsLimitRunsOn) {
  containers().start(limited(writer(1, kLimit / 3, "file /tmp/file")));
  containers().untilOutput(1, "written");
  // The second of these is found in a round that began after the first was found, and looks at all.
  for (const AllocationId other : {2, 3}) containers().run(limited(writer(other, kLimit + 1, "file")));
  EXPECT_FALSE(containers().ended.contains(1));
  containers().executor().signal(1, SIGTERM);
  const TaskEnd end = containers().endOf(1);
  EXPECT_EQ(end.signal, SIGTERM);
  EXPECT_EQ(end.problem, "");
}

TEST_F(ContainerDiskTest, FilesCountThatATaskHasRemovedAndHoldsOpen) {
  const TaskEnd end = containers().run(
      limited(script(1, "exec 3>file; rm file; head -c 3000000 /dev/zero >&3; exec sleep 30")));
  EXPECT_EQ(end.signal, SIGKILL);
  EXPECT_THAT(end.problem, HasSubstr("limits.disk"));
}

TEST_F(ContainerDiskTest, SuchAFileCountsOnceHoweverManyProcessesHoldIt) {
  containers().start(limited(script(1,
                                    "exec 3>file; rm file; head -c 1000000 /dev/zero >&3; for i in 1 2 3; do "
                                    "sleep 30 & done; echo written; wait")));
  containers().untilOutput(1, "written");
  for (const AllocationId other : {2, 3}) containers().run(limited(writer(other, kLimit + 1, "file")));
  EXPECT_FALSE(containers().ended.contains(1));
  containers().executor().signal(1, SIGKILL);
  EXPECT_EQ(containers().endOf(1).problem, "");
}

TEST_F(ContainerDiskTest, WhereTheJobDoesNotSayTheMonitorsLimitHolds) {
  options_.diskPerTask = kLimit;
  const TaskEnd end = containers().run(writer(1, kLimit + 1, "file"));
  EXPECT_EQ(end.signal, SIGKILL);
  EXPECT_THAT(end.problem, HasSubstr("more than its 2MiB"));
}

TEST_F(ContainerDiskTest, AnAdoptedTaskIsLookedAt) {
  options_.diskPause = std::chrono::hours(1);
  containers().start(limited(writer(1, kLimit + 1, "file")));
  containers().untilOutput(1, "written");
  succeed();
  options_.diskPause = std::chrono::milliseconds(1);
  ASSERT_EQ(containers().executor().recover().size(), 1u);
  EXPECT_THAT(containers().endOf(1).problem, HasSubstr("limits.disk"));
}

TEST_F(ContainerDiskTest, NoTaskStartsWhereTheDiskHasLessThanItsReserve) {
  options_.diskReserve = uint64_t{1} << 60;
  const TaskEnd end = containers().run(taskOf(1, {"true"}));
  EXPECT_TRUE(serversFault(end));
  EXPECT_THAT(end.problem, HasSubstr("--disk-reserve"));
  succeed();
  options_.diskReserve = 1;
  EXPECT_TRUE(containers().run(taskOf(2, {"true"})).succeeded());
}

}  // namespace tarcil::container_disk_test
