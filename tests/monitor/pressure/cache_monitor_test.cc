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

// With ways of the cache and memory bandwidth to be limited.
struct LimitingResctrl : FakeResctrl {
  LimitingResctrl() {
    write("info/L3/min_cbm_bits", "2\n");
    write("info/MB/min_bandwidth", "10\n");
    write("info/MB/bandwidth_gran", "10\n");
    write("schemata", "    MB:0=100;1=100\n    L3:0=fffff;1=fffff\n");
  }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(root() + "/" + name).parent_path());
    std::ofstream(root() + "/" + name) << text;
  }
  std::string control(AllocationId task) const { return root() + "/t-" + std::to_string(task); }
  std::string textOf(const std::string& path) const {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

TEST(CacheMonitor, LimitsATaskInAGroupOfItsOwnInWhichItIsCounted) {
  const LimitingResctrl resctrl;
  CacheMonitor monitor(resctrl.root(), "t-");
  const std::string threads = resctrl.threads("4711\n4712\n");
  monitor.follow(7, threads);
  resctrl.fill(resctrl.group(7), 500, 60);
  ASSERT_TRUE(monitor.limit(7, threads, 0.25, 0.02).ok());
  EXPECT_EQ(resctrl.textOf(resctrl.control(7) + "/schemata"), "MB:0=10;1=10\nL3:0=1f;1=1f\n");
  EXPECT_EQ(resctrl.textOf(resctrl.control(7) + "/tasks"), "4712") << "one thread with each write";
  resctrl.fill(resctrl.control(7), 200, 5);
  EXPECT_EQ(*monitor.task(7), (CacheUse{200, 5}));
  EXPECT_EQ(*monitor.tasks(), (CacheUse{200, 65}));
  ASSERT_TRUE(monitor.limit(7, threads, 0.5, 0.1).ok());
  EXPECT_EQ(resctrl.textOf(resctrl.control(7) + "/schemata"), "MB:0=10;1=10\nL3:0=3ff;1=3ff\n");

  // The kernel takes a group away with its files; here they would keep the folder.
  fs::remove_all(resctrl.control(7));
  fs::remove_all(resctrl.group(7));
  ASSERT_TRUE(monitor.limit(7, threads, 1, 1).ok());
  EXPECT_FALSE(fs::exists(resctrl.control(7)));
  EXPECT_EQ(resctrl.lastMoved(7), "4712") << "it is counted in a monitoring group again";
  ASSERT_TRUE(monitor.limit(8, threads, 1, 1).ok()) << "it never was";
}

TEST(CacheMonitor, WhatCannotBeLimitedIsSaid) {
  const FakeResctrl resctrl;
  CacheMonitor monitor(resctrl.root(), "t-");
  EXPECT_FALSE(monitor.controls().leastWays);
  EXPECT_FALSE(monitor.controls().bandwidth);
  const std::string threads = resctrl.threads("4711\n");
  EXPECT_EQ(monitor.limit(7, threads, 0.5, 1).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(monitor.limit(7, threads, 1, 0.5).error().code, ErrorCode::kUnavailable);
  EXPECT_FALSE(fs::exists(resctrl.root() + "/t-7"));
  const LimitingResctrl amd;
  amd.write("schemata", "    MB:0=2048\n    L3:0=ffff\n");
  EXPECT_TRUE(CacheMonitor(amd.root(), "t-").controls().leastWays);
  EXPECT_FALSE(CacheMonitor(amd.root(), "t-").controls().bandwidth) << "it is not in per cent";
  const LimitingResctrl odd;
  odd.write("schemata", "    L3:all\n");
  EXPECT_THAT(CacheMonitor(odd.root(), "t-").limit(7, threads, 0.5, 1).error().message,
              HasSubstr("schemata:1"));
}

TEST(CacheMonitor, LimitsEndWithTheTaskAndWithTheMonitor) {
  const LimitingResctrl resctrl;
  fs::create_directory(resctrl.control(99));
  {
    CacheMonitor monitor(resctrl.root(), "t-");
    EXPECT_FALSE(fs::exists(resctrl.control(99))) << "of a predecessor";
    for (const AllocationId task : {7, 8}) {
      ASSERT_TRUE(monitor.limit(task, "/nowhere", 0.5, 1).ok());
      fs::remove(resctrl.control(task) + "/schemata");
    }
    monitor.forgetAllBut({8});
    EXPECT_FALSE(fs::exists(resctrl.control(7)));
    EXPECT_TRUE(fs::exists(resctrl.control(8)));
  }
  EXPECT_FALSE(fs::exists(resctrl.control(8)));
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
