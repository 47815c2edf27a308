// Groups of resctrl on trees of files that are made here: folders do not become groups by themselves there.
#include "monitor/pressure/cache_monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temporary_folder.h"

namespace tarcil::cache_monitor_test {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct FakeResctrl {
  FakeResctrl() {
    fs::copy(TARCIL_RECORDED "/written-v2/resctrl", root(), fs::copy_options::recursive);
    fs::create_directory(root() + "/mon_groups");
  }
  std::string root() const { return folder.path() + "/resctrl"; }
  std::string group(AllocationId task) const { return root() + "/mon_groups/t-" + std::to_string(task); }

  // As the kernel fills a group that was made.
  void fill(const std::string& group, uint64_t occupied, uint64_t transferred) const {
    const std::string domain = group + "/mon_data/mon_L3_00";
    fs::create_directories(domain);
    std::ofstream(domain + "/llc_occupancy") << occupied << "\n";
    std::ofstream(domain + "/mbm_total_bytes") << transferred << "\n";
  }
  std::string threads(const std::string& text) const {
    std::string file = folder.path() + "/threads";
    std::ofstream(file) << text;
    return file;
  }
  std::string lastMoved(AllocationId task) const {
    std::string thread;
    std::ifstream(group(task) + "/tasks") >> thread;
    return thread;
  }

  TemporaryFolder folder;
};

TEST(CacheMonitor, AddsUpTheDomainsOfTheMachine) {
  const FakeResctrl resctrl;
  const CacheMonitor monitor(resctrl.root(), "t-");
  EXPECT_EQ(*monitor.machine(), (CacheUse{14155776 + 2097152, 3489660928 + 268435456}));
}

TEST(CacheMonitor, CountsGroupsWithAnAllocationOfTheirOwnToo) {
  const FakeResctrl resctrl;
  resctrl.fill(resctrl.root() + "/realtime", 1000, 1);
  const CacheMonitor monitor(resctrl.root(), "t-");
  EXPECT_EQ(monitor.machine()->occupied, 14155776u + 2097152u + 1000u);
}

TEST(CacheMonitor, FollowsATaskByItsThreads) {
  const FakeResctrl resctrl;
  CacheMonitor monitor(resctrl.root(), "t-");
  monitor.follow(7, resctrl.threads("4711\n4712\n"));
  EXPECT_EQ(resctrl.lastMoved(7), "4712");
  resctrl.fill(resctrl.group(7), 500, 60);
  EXPECT_EQ(*monitor.task(7), (CacheUse{500, 60}));
  EXPECT_FALSE(monitor.task(8).ok());
  // What came while the first were moved; what comes later is in the group by its birth.
  monitor.follow(7, resctrl.threads("4713\n"));
  EXPECT_EQ(resctrl.lastMoved(7), "4713");
  monitor.follow(7, resctrl.threads("4714\n"));
  EXPECT_EQ(resctrl.lastMoved(7), "4713");
}

TEST(CacheMonitor, TrafficOfTasksThatAreGoneStaysInTheSum) {
  const FakeResctrl resctrl;
  CacheMonitor monitor(resctrl.root(), "t-");
  monitor.follow(7, resctrl.threads(""));
  monitor.follow(8, resctrl.threads(""));
  resctrl.fill(resctrl.group(7), 500, 60);
  resctrl.fill(resctrl.group(8), 100, 5);
  EXPECT_EQ(*monitor.tasks(), (CacheUse{600, 65}));
  monitor.forgetAllBut({8});
  EXPECT_EQ(*monitor.tasks(), (CacheUse{100, 65}));
}

TEST(CacheMonitor, AGroupThatIsJustMadeHasNoNumbersYet) {
  const FakeResctrl resctrl;
  CacheMonitor monitor(resctrl.root(), "t-");
  monitor.follow(7, resctrl.threads(""));
  resctrl.fill(resctrl.group(7), 0, 0);
  std::ofstream(resctrl.group(7) + "/mon_data/mon_L3_00/mbm_total_bytes") << "Unavailable\n";
  EXPECT_EQ(monitor.task(7).error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(monitor.tasks().ok());
}

TEST(CacheMonitor, WhereGroupsRunOutTheTaskIsAbsent) {
  const FakeResctrl resctrl;
  fs::remove(resctrl.root() + "/mon_groups");
  CacheMonitor monitor(resctrl.root(), "t-");
  monitor.follow(7, resctrl.threads(""));
  EXPECT_THAT(monitor.task(7).error().message, HasSubstr("no group of resctrl"));
  EXPECT_FALSE(monitor.tasks().ok());
}

TEST(CacheMonitor, WithoutResctrlEverythingIsAbsentForThatReason) {
  const TemporaryFolder empty;
  CacheMonitor monitor(empty.path(), "t-");
  monitor.follow(7, "/nowhere");
  EXPECT_EQ(monitor.machine().error().message, "resctrl is not mounted");
  EXPECT_EQ(monitor.task(7).error().message, "resctrl is not mounted");
  EXPECT_FALSE(monitor.tasks().ok());
}

TEST(CacheMonitor, GoesWithItsGroupsAndTakesThoseOfAPredecessorAway) {
  const FakeResctrl resctrl;
  fs::create_directory(resctrl.root() + "/mon_groups/t-99");
  fs::create_directory(resctrl.root() + "/mon_groups/other");
  {
    CacheMonitor monitor(resctrl.root(), "t-");
    EXPECT_FALSE(fs::exists(resctrl.root() + "/mon_groups/t-99"));
    monitor.follow(7, "/nowhere");
    EXPECT_TRUE(fs::exists(resctrl.group(7)));
  }
  EXPECT_FALSE(fs::exists(resctrl.group(7)));
  EXPECT_TRUE(fs::exists(resctrl.root() + "/mon_groups/other"));
}

}  // namespace tarcil::cache_monitor_test
