#include "classifier/kernels/machine.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "classifier/kernels/kernel.h"
#include "tests/support/temporary_folder.h"

namespace tarcil::machine_test {

TEST(CoreList, IsReadWithRanges) {
  EXPECT_EQ(coresIn("0-2,7"), (std::vector<int>{0, 1, 2, 7}));
  EXPECT_EQ(coresIn("3"), std::vector<int>{3});
}

TEST(CoreList, ThatIsNoneIsEmpty) {
  for (const char* text : {"", "x", "3-1", "-1", "1;2", "0-", "0-99999999"}) {
    EXPECT_TRUE(coresIn(text).empty()) << text;
  }
}

TEST(Size, IsReadWithItsUnit) {
  EXPECT_EQ(bytesIn("48K"), 48u << 10);
  EXPECT_EQ(bytesIn("2M"), 2u << 20);
  EXPECT_EQ(bytesIn("25276510 kB"), uint64_t{25276510} << 10);
  EXPECT_EQ(bytesIn("17"), 17u);
}

TEST(Size, ThatIsNoneIsZero) {
  for (const char* text : {"", "K", "3T", "-1K", "99999999999999999999K"})
    EXPECT_EQ(bytesIn(text), 0u) << text;
}

class FakeMachine : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = folder_.path() + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << '\n';
  }
  void cache(int index, const char* level, const char* type, const char* size) {
    // Of whichever core this test may use first.
    const std::string core = std::to_string(readMachine().cores.front());
    const std::string folder = "sys/devices/system/cpu/cpu" + core + "/cache/index" + std::to_string(index);
    write(folder + "/level", level);
    write(folder + "/type", type);
    write(folder + "/size", size);
  }
  Machine read() const { return readMachine(folder_.path() + "/sys", folder_.path() + "/proc"); }

  TemporaryFolder folder_;
};

TEST_F(FakeMachine, HasTheCachesThatItSays) {
  cache(0, "1", "Data", "48K");
  cache(1, "1", "Instruction", "32K");
  cache(2, "2", "Unified", "2048K");
  cache(3, "3", "Unified", "266240K");
  write("proc/meminfo", "MemTotal:       24684092 kB");
  write("proc/cpuinfo", "model name\t: Some Processor");
  const Machine machine = read();
  EXPECT_EQ(machine.l1dBytes, 48u << 10);
  EXPECT_EQ(machine.l1iBytes, 32u << 10);
  EXPECT_EQ(machine.l2Bytes, 2u << 20);
  EXPECT_EQ(machine.llcBytes, 260u << 20);
  EXPECT_EQ(machine.memoryBytes, uint64_t{24684092} << 10);
  EXPECT_EQ(machine.processor, "Some Processor");
}

TEST_F(FakeMachine, HasTheMemoryThatItsContainerMayHave) {
  write("proc/meminfo", "MemTotal:       24684092 kB");
  write("proc/self/cgroup", "0::/task");
  write("sys/fs/cgroup/task/memory.max", "1073741824");
  EXPECT_EQ(read().memoryBytes, uint64_t{1} << 30);
}

TEST_F(FakeMachine, ThatSaysNothingHasKernelsThatCannotRun) {
  const Machine machine = read();
  EXPECT_TRUE(whyNot(Resource::kLlc, machine));
  EXPECT_TRUE(whyNot(Resource::kMemoryCapacity, machine));
  EXPECT_FALSE(whyNot(Resource::kMemoryBandwidth, machine));
  EXPECT_FALSE(machine.cores.empty());
}

TEST_F(FakeMachine, CountsCoresOnceWhoseThreadsAreTwo) {
  const std::vector<int> cores = readMachine().cores;
  if (cores.size() < 2) GTEST_SKIP() << "needs two hardware threads";
  for (int core : {cores[0], cores[1]}) {
    write("sys/devices/system/cpu/cpu" + std::to_string(core) + "/topology/thread_siblings_list",
          std::to_string(cores[0]) + "," + std::to_string(cores[1]));
  }
  const Machine machine = read();
  EXPECT_EQ(machine.firstThreads.size(), cores.size() - 1);
  EXPECT_EQ(machine.firstThreads.front(), cores[0]);
  EXPECT_TRUE(machine.hasSiblings());
}

}  // namespace tarcil::machine_test
