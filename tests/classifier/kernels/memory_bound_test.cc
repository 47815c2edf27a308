#include "classifier/kernels/memory_bound.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <fstream>

#include "classifier/kernels/memory_left.h"
#include "tests/support/temporary_folder.h"

namespace tarcil::memory_bound_test {

constexpr uint64_t kGiB = uint64_t{1} << 30;

TEST(MemoryBound, HeadroomIsATenthAndAtLeastOneGiBWhereThatIsNoMoreThanAQuarter) {
  EXPECT_EQ(memoryHeadroom(64 * kGiB), 64 * kGiB / 10);
  EXPECT_EQ(memoryHeadroom(4 * kGiB), kGiB);
  EXPECT_EQ(memoryHeadroom(kGiB), kGiB / 4);
}

TEST(MemoryBound, HoldsWhatIsWantedWhereThereIsEnough) {
  EXPECT_EQ(memoryToHold(8 * kGiB, 0, 60 * kGiB, 64 * kGiB), 8 * kGiB);
}

TEST(MemoryBound, GivesBackWhatOthersWant) {
  EXPECT_EQ(memoryToHold(8 * kGiB, 8 * kGiB, kGiB / 2, 10 * kGiB), 8 * kGiB - kGiB / 2);
}

RC_GTEST_PROP(MemoryBound, LeavesTheHeadroomOrHoldsNothing, ()) {
  const uint64_t total = *rc::gen::inRange<uint64_t>(1, 4096) * (kGiB / 8);
  const uint64_t held = *rc::gen::inRange<uint64_t>(0, total);
  const uint64_t available = *rc::gen::inRange<uint64_t>(0, total - held + 1);
  const uint64_t wanted = *rc::gen::inRange<uint64_t>(0, 2 * total);
  const uint64_t hold = memoryToHold(wanted, held, available, total);
  RC_ASSERT(hold <= wanted);
  RC_ASSERT(hold == 0 || held + available - hold >= memoryHeadroom(total));
}

// A machine's files, as the kernel writes them.
class MemoryLeft : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = folder_.path() + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  MemoryPaths paths() const { return {folder_.path() + "/proc", folder_.path() + "/cgroup"}; }

  TemporaryFolder folder_;
};

TEST_F(MemoryLeft, IsWhatTheMachineSays) {
  write("proc/meminfo", "MemTotal:       1000 kB\nMemFree: 1 kB\nMemAvailable:    300 kB\n");
  EXPECT_EQ(memoryLeft(paths()), 300u << 10);
}

TEST_F(MemoryLeft, IsNothingWhereTheMachineDoesNotSay) {
  EXPECT_EQ(memoryLeft(paths()), 0u);
}

TEST_F(MemoryLeft, IsBoundedByALimitAboveItsCgroup) {
  write("proc/meminfo", "MemAvailable:    300000 kB\n");
  write("proc/self/cgroup", "0::/box/inner\n");
  write("cgroup/box/memory.max", "10000\n");
  write("cgroup/box/memory.current", "7000\n");
  write("cgroup/box/memory.stat", "anon 4000\ninactive_file 2000\n");
  write("cgroup/box/inner/memory.max", "max\n");
  write("cgroup/box/inner/memory.current", "7000\n");
  EXPECT_EQ(memoryLeft(paths()), 10000u - (7000u - 2000u));
}

TEST_F(MemoryLeft, IsBoundedByALimitOfVersion1) {
  write("proc/meminfo", "MemAvailable:    300000 kB\n");
  write("proc/self/cgroup", "4:cpu,cpuacct:/other\n3:memory:/box\n0::/\n");
  write("cgroup/memory/box/memory.limit_in_bytes", "10000\n");
  write("cgroup/memory/box/memory.usage_in_bytes", "9000\n");
  EXPECT_EQ(memoryLeft(paths()), 1000u);
}

TEST_F(MemoryLeft, IsOutOfNoMoreThanTheTightestCgroupAllows) {
  write("proc/meminfo", "MemTotal:    300000 kB\n");
  EXPECT_EQ(memoryInAll(paths()), 300000u << 10);
  write("proc/self/cgroup", "3:memory:/tasks/box\n0::/box/inner\n");
  write("cgroup/box/memory.max", "20000\n");
  write("cgroup/box/inner/memory.max", "max\n");
  EXPECT_EQ(memoryInAll(paths()), 20000u);
  // What version 1 says where there is no limit.
  write("cgroup/memory/tasks/box/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(memoryInAll(paths()), 20000u);
  write("cgroup/memory/tasks/memory.limit_in_bytes", "10000\n");
  EXPECT_EQ(memoryInAll(paths()), 10000u);
}

}  // namespace tarcil::memory_bound_test
