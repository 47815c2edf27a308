// What the kernel's log says of a kill for memory, on logs of both versions of cgroups and on broken ones.
#include "monitor/container/memory_kill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace tarcil::memory_kill_test {

using testing::ElementsAre;
using testing::IsEmpty;

std::string recorded(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(TARCIL_RECORDED "/" + file).rdbuf();
  return text.str();
}

// A report of task 7, on the kill of process 12.
std::string reportOf(const std::string& name, const std::string& oomGroup = "/t/s/7") {
  return "<4>[ 1.0] x invoked oom-killer: order=0\n"
         "<6>[ 1.0] [  pid  ]   uid  tgid total_vm      rss name\n"
         "<6>[ 1.0] [     12]     0    12     6259     4827 " +
         name +
         "\n<6>[ 1.0] [     13]     0    13     3476     2560 b c\n"
         "<6>[ 1.0] oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=" +
         oomGroup + ",task_memcg=/t/s/7,task=" + name +
         ",pid=12,uid=0\n<3>[ 1.0] Memory cgroup out of memory: Killed process 12 (" + name +
         ") total-vm:5kB, anon-rss:2048kB, file-rss:512kB, shmem-rss:512kB, UID:0\n";
}

TEST(MemoryKill, IsReadFromTheLogOfVersion1) {
  const auto kill = lastMemoryKill(recorded("guest-v1/kernel-log"), "/tarcil-test-18555/s1/1");
  ASSERT_TRUE(kill);
  EXPECT_TRUE(kill->atOwnLimit);
  EXPECT_EQ(kill->killed, (MemoryHolder{"tail", (32512 + 1340) * 1024}));
  EXPECT_THAT(kill->others, ElementsAre(MemoryHolder{"tarcil-shim", 0}));
  EXPECT_EQ(kill->filesInMemory, 0u);
}

// A task of three processes that first lost one and then another.
TEST(MemoryKill, TheLastOneCountsWithAllWhoHeldMemory) {
  const std::string log = recorded("guest-v2/kernel-log");
  EXPECT_EQ(memoryKillText(lastMemoryKill(log, "/tarcil-x/17"), 32 << 20),
            "the kernel killed a process of the task at its memory limit of 32 MiB: 'tail' held 30 MiB, "
            "files in memory 3 MiB");
  EXPECT_EQ(
      memoryKillText(lastMemoryKill(log.substr(0, log.find("Killed process 149")), "/tarcil-x/17"), 32 << 20),
      "the kernel killed a process of the task at its memory limit of 32 MiB: 'perl' held 19 MiB, "
      "'tail' held 12 MiB, files in memory 3 MiB");
}

TEST(MemoryKill, OfAnotherCgroupIsNotTheTasks) {
  EXPECT_EQ(lastMemoryKill(reportOf("a"), "/t/s/17"), std::nullopt);
  EXPECT_EQ(lastMemoryKill(reportOf("a"), "/t2/s/7"), std::nullopt);
  EXPECT_TRUE(lastMemoryKill(reportOf("a"), "/s/7"));
}

TEST(MemoryKill, ThatTheServerMadeSaysNothingOfTheTasksLimitOrOfOthers) {
  for (const char* group : {"/t/s", ""}) {
    EXPECT_EQ(
        memoryKillText(lastMemoryKill(reportOf("a", group), "/t/s/7"), 32 << 20),
        "the kernel killed a process of the task because the server had no memory left: 'a' held 3 MiB");
  }
}

// Whatever a process calls itself, it neither hides a kill nor makes one up.
TEST(MemoryKill, NamesAreTheTasksAndAreNotTrusted) {
  for (const std::string name : {") total-vm:9kB", ",pid=7,uid=0", ",task_memcg=/t", "] [ 1 ]", "("}) {
    const auto kill = lastMemoryKill(reportOf(name), "/t/s/7");
    ASSERT_TRUE(kill) << name;
    EXPECT_EQ(kill->killed, (MemoryHolder{name, 3 << 20}));
    EXPECT_THAT(kill->others, ElementsAre(MemoryHolder{"b c", 2560 * 4096}));
  }
  EXPECT_EQ(lastMemoryKill(reportOf("\x1b[2J\x01"), "/t/s/7")->killed.name, "?[2J?");
  EXPECT_EQ(lastMemoryKill(reportOf("a\nb"), "/t/s/7"), std::nullopt) << "cut into lines";
}

TEST(MemoryKill, AnyLogCutAnywhereCanBeRead) {
  for (const std::string& log : {recorded("guest-v2/kernel-log"), reportOf("a")}) {
    for (size_t size = 0; size < log.size(); ++size) {
      lastMemoryKill(log.substr(size), "/t/s/7");
      lastMemoryKill(log.substr(0, size), "/tarcil-x/17");
    }
  }
  EXPECT_EQ(
      lastMemoryKill("Killed process 12 (a) total-vm:\n[ 1.0] [  pid  ]\n[ 1.0] []\n[ 1.0] [1] 2 3 4 5 6",
                     "/t/s/7"),
      std::nullopt);
}

TEST(MemoryKill, SaysWhatIsKnownWithoutALog) {
  EXPECT_EQ(memoryKillText(std::nullopt, uint64_t{1} << 30),
            "the kernel killed a process of the task at its memory limit of 1 GiB");
  EXPECT_EQ(memoryKillText(std::nullopt, 10'110'604'083),
            "the kernel killed a process of the task at its memory limit of 9642 MiB");
  EXPECT_EQ(memoryKillText(std::nullopt, 0), "the kernel killed a process of the task for memory");
}

}  // namespace tarcil::memory_kill_test
