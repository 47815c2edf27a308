// Limits of a task that runs, in trees of plain files.
#include "monitor/container/cgroup_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/support/temporary_folder.h"

namespace tarcil::cgroup_tree_test {

using testing::ElementsAre;
using testing::IsEmpty;

// The cgroups of task 7 on server "s" of group "g".
TaskLimits limitsOf(std::vector<uint32_t> cores, uint64_t memoryBytes) {
  TaskLimits limits;
  limits.cores = std::move(cores);
  limits.memoryBytes = memoryBytes;
  return limits;
}

class CgroupTreeTest : public testing::Test {
 protected:
  void put(const std::string& file, const std::string& text) const {
    const std::string path = folder_.path() + "/" + file;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
  }
  std::string get(const std::string& file) const {
    std::ostringstream text;
    text << std::ifstream(folder_.path() + "/" + file).rdbuf();
    return text.str();
  }
  const std::string& folder() const { return folder_.path(); }
  CgroupTree tree() const {
    return {{folder_.path() + "/mounts", folder_.path() + "/swaps", ""}, {"g", "s"}};
  }

  void makeV1() const {
    put("mounts", "c " + folder_.path() + "/cpuset cgroup rw,cpuset 0 0\n" + "m " + folder_.path() +
                      "/memory cgroup rw,memory 0 0\n");
    for (const char* directory : {"cpuset/g", "cpuset/g/s", "cpuset/g/s/7"}) {
      for (const char* file : {"/cpuset.cpus", "/cpuset.mems", "/cgroup.clone_children"}) {
        put(directory + std::string(file), "0");
      }
    }
    put("memory/g/s/7/memory.limit_in_bytes", "1000");
  }

  void makeV2() const {
    put("mounts", "u " + folder_.path() + "/u cgroup2 rw 0 0\n");
    put("u/cgroup.controllers", "cpuset memory pids\n");
    put("u/g/cgroup.controllers", "cpuset memory pids\n");
    // What offers the controllers is written over the first word.
    put("u/g/s/cgroup.subtree_control", "+offered cpuset memory\n");
    put("u/g/s/7/cpuset.cpus", "0-1");
    put("u/g/s/7/memory.max", "2000");
    put("u/g/s/7/memory.high", "max ");
    put("u/g/s/7/memory.current", "500");
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(CgroupTreeTest, ThrottlesATaskUnderVersion1InACgroupThatIsMadeForIt) {
  makeV1();
  put("mounts", get("mounts") + "p " + folder() + "/cpu cgroup rw,cpu 0 0\n");
  put("cpuset/g/s/7/cgroup.procs", "12\n");
  put("cpu/g/s/7/cpu.cfs_period_us", "");
  put("cpu/g/s/7/cpu.cfs_quota_us", "");
  put("cpu/g/s/7/cgroup.procs", "\n");
  ASSERT_TRUE(tree().throttle(7, {.cpuMicros = 5000}).ok());
  EXPECT_EQ(get("cpu/g/s/7/cpu.cfs_quota_us"), "5000");
  EXPECT_EQ(get("cpu/g/s/7/cpu.cfs_period_us"), "100000");
  EXPECT_EQ(get("cpu/g/s/7/cgroup.procs"), "12") << "it is moved";
  put("cpu/g/s/7/cpu.cfs_quota_us", "");
  ASSERT_TRUE(tree().throttle(7, {}).ok());
  EXPECT_EQ(get("cpu/g/s/7/cpu.cfs_quota_us"), "-1");
}

TEST_F(CgroupTreeTest, ThrottlesATaskUnderVersion2) {
  makeV2();
  put("u/g/s/7/cpu.max", "max 100000");
  ASSERT_TRUE(tree().throttle(7, {.cpuMicros = 25000}).ok());
  EXPECT_EQ(get("u/g/s/7/cpu.max"), "25000 100000");
  put("u/g/s/7/cpu.max", "");
  ASSERT_TRUE(tree().throttle(7, {}).ok());
  EXPECT_EQ(get("u/g/s/7/cpu.max"), "max 100000");
}

TEST_F(CgroupTreeTest, ThrottlesTheUseOfDisksAndEndsThat) {
  makeV2();
  put("u/g/s/io.max", "");
  put("u/g/s/7/io.max", "");
  ASSERT_TRUE(tree().throttle(7, {.disks = {"8:0"}, .diskBytesPerSecond = 1000}).ok());
  EXPECT_EQ(get("u/g/s/7/io.max"), "8:0 rbps=1000 wbps=1000");
  put("u/g/s/7/io.max", "");
  ASSERT_TRUE(tree().throttle(7, {.disks = {"8:0"}}).ok());
  EXPECT_EQ(get("u/g/s/7/io.max"), "8:0 rbps=max wbps=max");
}

TEST_F(CgroupTreeTest, SaysThatItCannotThrottleWithoutAController) {
  makeV2();
  const Status cpu = tree().throttle(7, {.cpuMicros = 5000});
  ASSERT_FALSE(cpu.ok());
  EXPECT_EQ(cpu.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(tree().throttle(7, {.disks = {"8:0"}, .diskBytesPerSecond = 1}).error().code,
            ErrorCode::kUnavailable);
  EXPECT_TRUE(tree().throttle(7, {}).ok()) << "nothing is to be ended";
}

TEST_F(CgroupTreeTest, PutsATaskUnderOtherLimits) {
  makeV1();
  ASSERT_TRUE(tree().limit(7, limitsOf({3}, 2000)).ok());
  EXPECT_EQ(get("cpuset/g/s/7/cpuset.cpus"), "3");
  EXPECT_EQ(get("memory/g/s/7/memory.limit_in_bytes"), "2000");

  makeV2();
  ASSERT_TRUE(tree().limit(7, limitsOf({0, 3}, 1000)).ok());
  EXPECT_EQ(get("u/g/s/7/cpuset.cpus"), "0,3");
  EXPECT_EQ(get("u/g/s/7/memory.max"), "1000");
}

TEST_F(CgroupTreeTest, ALimitThatCannotBeChangedLeavesTheOthersAsTheyWere) {
  makeV1();
  const std::string limit = "memory/g/s/7/memory.limit_in_bytes";
  std::filesystem::remove(folder() + "/" + limit);
  put(limit + "/file", "");  // a folder: nothing can be written into it
  const Status limited = tree().limit(7, limitsOf({3}, 2000));
  ASSERT_FALSE(limited.ok());
  EXPECT_NE(limited.error().message.find("memory.limit_in_bytes"), std::string::npos);
  EXPECT_EQ(get("cpuset/g/s/7/cpuset.cpus"), "0") << "the task would run on a core of another";
}

TEST_F(CgroupTreeTest, MemoryThatIsInUseIsNotTakenAway) {
  makeV2();
  put("u/g/s/7/memory.current", "1500");
  const Status limited = tree().limit(7, limitsOf({0}, 1000));
  ASSERT_FALSE(limited.ok()) << "the kernel would kill the task";
  EXPECT_EQ(limited.error().code, ErrorCode::kConflict);
  EXPECT_EQ(get("u/g/s/7/memory.max"), "2000");
  EXPECT_EQ(get("u/g/s/7/memory.high").substr(0, 3), "max");
  EXPECT_EQ(get("u/g/s/7/cpuset.cpus"), "0-1");
}

// sda has BFQ, nvme0n1 has io.cost where that is said to be on.
TEST_F(CgroupTreeTest, DisksThatTakeNoNoticeOfWeightsAreNamed) {
  const std::string recorded = TARCIL_RECORDED "/written-v2/";
  makeV2();
  const auto missing = [this](const std::string& sys) {
    const SystemPaths paths{folder() + "/mounts", folder() + "/swaps", "", sys};
    std::vector<std::string> weights = CgroupTree(paths, {"g", "s"}).missing();
    std::erase_if(weights, [](const std::string& what) { return !what.starts_with("io-weight"); });
    return weights;
  };
  EXPECT_THAT(missing(recorded + "sys"), ElementsAre("io-weight")) << "no file takes a weight";
  put("u/g/s/io.weight", "default 100");
  EXPECT_THAT(missing(recorded + "sys"), ElementsAre("io-weight")) << "io.cost is off";
  EXPECT_THAT(missing(folder() + "/no-disks"), IsEmpty());
  std::filesystem::copy(recorded + "cgroup/io.cost.qos", folder() + "/u/io.cost.qos");
  EXPECT_THAT(missing(recorded + "sys"), ElementsAre("io-weight:sda"));
  put("u/g/s/io.bfq.weight", "default 100");
  EXPECT_THAT(missing(recorded + "sys"), ElementsAre("io-weight:nvme0n1"));
}

// Of the files of weights the one that most disks heed, and BFQ's of two that as many do.
TEST_F(CgroupTreeTest, AWeightIsWrittenWhereItDoesSomething) {
  makeV2();
  put("u/g/s/cgroup.subtree_control", "+offered io\n");
  put("u/cgroup.controllers", "io\n");
  for (const char* file : {"u/g/s/io.weight", "u/g/s/io.bfq.weight"}) put(file, "default 100");
  put("sys/block/sda/dev", "8:0\n");
  put("sys/block/sda/device/vendor", "ATA\n");
  put("sys/block/sda/queue/scheduler", "[none] bfq\n");
  TaskLimits limits;
  limits.ioWeight = 200;
  const auto fileOfWeight = [this, &limits]() {
    const SystemPaths paths{folder() + "/mounts", folder() + "/swaps", "", folder() + "/sys"};
    const auto settings = CgroupTree(paths, {"g", "s"}).forTask(7, limits).settings;
    return settings.size() == 1 ? settings[0].file.substr(settings[0].file.rfind('/') + 1) : "";
  };
  EXPECT_EQ(fileOfWeight(), "io.bfq.weight") << "the scheduler may yet be chosen";
  put("u/io.cost.qos", "8:0 enable=1 ctrl=auto\n");
  EXPECT_EQ(fileOfWeight(), "io.weight");
}

TEST_F(CgroupTreeTest, AGroupIsCountedWithItsServerAndGoesBeforeIt) {
  put("mounts", "m " + folder() + "/memory cgroup rw,memory 0 0\n");
  std::filesystem::create_directory(folder() + "/memory");
  const SystemPaths paths{folder() + "/mounts", folder() + "/swaps", ""};
  CgroupTree server(paths, {"g", "s"}), group(paths, {"g", "s", "late"});
  EXPECT_EQ(group.counted().memory, server.counted().memory + "/late");
  EXPECT_TRUE(server.tasks().empty());
  server.removeUnused();
  EXPECT_TRUE(std::filesystem::exists(group.counted().memory));
  group.removeUnused();
  EXPECT_FALSE(std::filesystem::exists(folder() + "/memory/g"));
  EXPECT_TRUE(std::filesystem::exists(folder() + "/memory"));
}

TEST_F(CgroupTreeTest, ACgroupThatAnotherHoldsStays) {
  put("mounts", "m " + folder() + "/memory cgroup rw,memory 0 0\n");
  std::filesystem::create_directory(folder() + "/memory");
  const SystemPaths paths{folder() + "/mounts", folder() + "/swaps", ""};
  CgroupTree first(paths, {"g", "s"});
  {
    CgroupTree second(paths, {"g", "s"});
    second.removeUnused();
    CgroupTree group(paths, {"g", "s", "late"});
    group.removeUnused();
    EXPECT_FALSE(std::filesystem::exists(folder() + "/memory/g/s/late"));
  }
  EXPECT_TRUE(std::filesystem::exists(first.counted().memory));
  first.removeUnused();
  EXPECT_FALSE(std::filesystem::exists(folder() + "/memory/g"));
}

TEST_F(CgroupTreeTest, ACgroupIsMadeAgainWhereItIsRemovedBeforeItIsHeld) {
  put("mounts", "m " + folder() + "/memory cgroup rw,memory 0 0\n");
  std::filesystem::create_directory(folder() + "/memory");
  const SystemPaths paths{folder() + "/mounts", folder() + "/swaps", ""};
  std::atomic<bool> ends = false;
  std::thread other([&] {
    while (!ends) CgroupTree(paths, {"g", "s"}).removeUnused();
  });
  for (int i = 0; i < 500; ++i) {
    CgroupTree tree(paths, {"g", "s"});
    EXPECT_TRUE(std::filesystem::exists(folder() + "/memory/g/s")) << tree.counted().memory;
    tree.removeUnused();
  }
  ends = true;
  other.join();
}

}  // namespace tarcil::cgroup_tree_test
