#include "monitor/logic/cgroup/cgroup.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "monitor/logic/cgroup/cgroup_v1.h"
#include "monitor/logic/cgroup/cgroup_v2.h"

namespace tarcil::cgroup_test {

CgroupMounts mountsIn(const std::string& file) {
  std::ifstream in(TARCIL_TEST_DATA "/mounts/" + file);
  std::ostringstream text;
  text << in.rdbuf();
  return parseCgroupMounts(text.str());
}

TEST(CgroupMounts, FindsEachControllerOfVersion1BesideABareVersion2) {
  const CgroupMounts expected{{{"blkio", "/sys/fs/cgroup/blkio"},
                               {"cpu", "/sys/fs/cgroup/cpu"},
                               {"cpuacct", "/sys/fs/cgroup/cpuacct"},
                               {"cpuset", "/sys/fs/cgroup/cpuset"},
                               {"memory", "/sys/fs/cgroup/memory"},
                               {"pids", "/sys/fs/cgroup/pids"}},
                              "/sys/fs/cgroup/unified"};
  EXPECT_EQ(mountsIn("v1-and-bare-v2.txt"), expected);
}

TEST(CgroupMounts, FindsVersion2Alone) {
  EXPECT_EQ(mountsIn("v2.txt"), (CgroupMounts{{}, "/sys/fs/cgroup"}));
}

TEST(CgroupMounts, FindsControllersMountedTogetherAndTakesTheFirstMount) {
  const CgroupMounts expected{{{"cpu", "/sys/fs/cgroup/cpu,cpuacct"},
                               {"cpuacct", "/sys/fs/cgroup/cpu,cpuacct"},
                               {"cpuset", "/sys/fs/cgroup/cpuset,memory"},
                               {"memory", "/sys/fs/cgroup/cpuset,memory"},
                               {"pids", "/mnt/with blank/pids"}},
                              "/sys/fs/cgroup/unified"};
  EXPECT_EQ(mountsIn("hybrid.txt"), expected);
}

TEST(CgroupMounts, IgnoresWhatIsNoMountTable) {
  EXPECT_EQ(parseCgroupMounts("x\n\ncgroup\n"), CgroupMounts{});
}

const TaskLimits kLimits{{0, 1, 2, 5}, 1000, 500, 10, 0, {}, 0};
CgroupFeatures withSwap() {
  CgroupFeatures features;
  features.limitSwap = true;
  return features;
}

TEST(CgroupV1, GivesATaskADirectoryInEachHierarchyAndItsLimits) {
  TaskCgroups cgroups;
  addV1({{"cpuset", "/c"}, {"memory", "/m"}, {"pids", "/p"}}, "7", kLimits, withSwap(), cgroups);
  const TaskCgroups expected{{"/m/7", "/p/7", "/c/7"},
                             {{"/m/7/memory.limit_in_bytes", "1000"},
                              {"/m/7/memory.memsw.limit_in_bytes", "1000"},
                              {"/m/7/memory.soft_limit_in_bytes", "500"},
                              {"/p/7/pids.max", "11"},
                              {"/c/7/cpuset.cpus", "0-2,5"}},
                             {"/m/7/tasks", "/p/7/tasks", "/c/7/tasks"},
                             "",
                             "/m/7/memory.oom_control",
                             {"/c/7/tasks"},
                             "/m/7/memory.max_usage_in_bytes"};
  EXPECT_EQ(cgroups, expected);
}

TEST(CgroupV1, JoinsAHierarchyOfSeveralControllersOnce) {
  TaskCgroups cgroups;
  addV1({{"cpuset", "/h"}, {"memory", "/h"}}, "7", kLimits, {}, cgroups);
  EXPECT_EQ(cgroups.directories, std::vector<std::string>{"/h/7"});
  EXPECT_EQ(cgroups.joins, std::vector<std::string>{"/h/7/tasks"});
}

TEST(CgroupV1, JoinsWhatCountsAlsoWhereNothingIsLimited) {
  TaskCgroups cgroups;
  addV1({{"blkio", "/b"}, {"cpuacct", "/a"}, {"pids", "/p"}}, "7", {}, {}, cgroups);
  const TaskCgroups expected{{"/a/7", "/b/7"}, {}, {"/a/7/tasks", "/b/7/tasks"}, "", "",
                             {"/a/7/tasks"},   "", "/a/7/cpuacct.usage"};
  EXPECT_EQ(cgroups, expected);
}

TEST(CgroupV1, JoinsNothingThatLimitsNothing) {
  TaskCgroups cgroups;
  addV1({{"cpuset", "/c"}, {"pids", "/p"}}, "7", {}, {}, cgroups);
  EXPECT_EQ(cgroups, TaskCgroups{});
}

TEST(CgroupV2, GivesATaskOneDirectoryToBeBornIn) {
  TaskCgroups cgroups;
  addV2("/u", {"cpuset", "memory", "pids"}, "7", kLimits, withSwap(), cgroups);
  const TaskCgroups expected{{"/u/7"},
                             {{"/u/7/memory.max", "1000"},
                              {"/u/7/memory.swap.max", "0"},
                              {"/u/7/memory.low", "500"},
                              {"/u/7/pids.max", "11"},
                              {"/u/7/cpuset.cpus", "0-2,5"}},
                             {},
                             "/u/7",
                             "/u/7/memory.events",
                             {},
                             "/u/7/memory.peak",
                             "/u/7/cpu.stat"};
  EXPECT_EQ(cgroups, expected);
}

const TaskLimits kIoLimits{{}, 0, 0, 0, 300, {"8:0", "254:16"}, 1 << 20};

TEST(CgroupV1, WeighsAndLimitsWhatADiskGives) {
  TaskCgroups cgroups;
  addV1({{"blkio", "/b"}}, "7", kIoLimits, {false, "blkio.bfq.weight", 200, true}, cgroups);
  const std::vector<CgroupSetting> expected{{"/b/7/blkio.bfq.weight", "200"},
                                            {"/b/7/blkio.throttle.read_bps_device", "8:0 1048576"},
                                            {"/b/7/blkio.throttle.write_bps_device", "8:0 1048576"},
                                            {"/b/7/blkio.throttle.read_bps_device", "254:16 1048576"},
                                            {"/b/7/blkio.throttle.write_bps_device", "254:16 1048576"}};
  EXPECT_EQ(cgroups.settings, expected);
}

TEST(CgroupV2, WeighsAndLimitsWhatADiskGives) {
  TaskCgroups cgroups;
  addV2("/u", {"io"}, "7", kIoLimits, {false, "io.weight", 10000, true}, cgroups);
  const std::vector<CgroupSetting> expected{{"/u/7/io.weight", "default 300"},
                                            {"/u/7/io.max", "8:0 rbps=1048576 wbps=1048576"},
                                            {"/u/7/io.max", "254:16 rbps=1048576 wbps=1048576"}};
  EXPECT_EQ(cgroups.settings, expected);
}

TEST(Cgroups, WeighAndLimitNoDiskWhereTheMachineDoesNot) {
  TaskCgroups cgroups;
  addV1({{"blkio", "/b"}}, "7", kIoLimits, {}, cgroups);
  addV2("/u", {"io"}, "7", kIoLimits, {}, cgroups);
  addV2("/u", {}, "7", kIoLimits, {false, "io.weight", 10000, true}, cgroups);
  EXPECT_TRUE(cgroups.settings.empty());
}

TEST(CgroupV2, CountsTasksAlsoWithoutControllers) {
  TaskCgroups cgroups;
  addV2("/u", {}, "7", kLimits, withSwap(), cgroups);
  EXPECT_EQ(cgroups, (TaskCgroups{{"/u/7"}, {}, {}, "/u/7", "", {}, "", "/u/7/cpu.stat"}));
}

TEST(CgroupV2, IsLeftAloneWhereItIsNot) {
  TaskCgroups cgroups;
  addV2("", {}, "7", kLimits, withSwap(), cgroups);
  EXPECT_EQ(cgroups, TaskCgroups{});
}

TEST(CoreList, JoinsNeighboursToRanges) {
  EXPECT_EQ(coreList({}), "");
  EXPECT_EQ(coreList({3}), "3");
  EXPECT_EQ(coreList({0, 1, 3, 4, 5, 9}), "0-1,3-5,9");
}

TEST(CgroupName, IsOneVisiblePathComponent) {
  EXPECT_EQ(cgroupName("node-1.rack_2"), "node-1.rack_2");
  EXPECT_EQ(cgroupName("../a b"), "_._a_b");
  EXPECT_EQ(cgroupName("."), "_");
  EXPECT_EQ(cgroupName(""), "_");
}

}  // namespace tarcil::cgroup_test
