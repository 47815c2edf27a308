#include "core/model/gang_hosts.h"

#include <gtest/gtest.h>

namespace tarcil::gang_hosts_test {

TEST(HostOf, IsWhatStandsBeforeThePort) {
  EXPECT_EQ(hostOf("node-1.example:7201"), "node-1.example");
  EXPECT_EQ(hostOf("10.0.0.5:7201"), "10.0.0.5");
  EXPECT_EQ(hostOf("[fd00::5]:7201"), "fd00::5");
}

TEST(HostOf, IsThisMachineWhereOnlyThatReachesIt) {
  EXPECT_EQ(hostOf("unix:/run/tarcil/monitor.sock"), "localhost");
}

// It would add lines to a file, or entries to a list.
TEST(HostOf, IsEmptyWhereTheNameHoldsWhatNoHostHas) {
  for (const char* address : {"a\nb slots=9:1", "a,b:1", "a b:1", "[::1:1", ""}) {
    EXPECT_EQ(hostOf(address), "") << address;
  }
}

TEST(GangHosts, ListsHostsByTaskAndCountsThemInTheFile) {
  const GangHosts hosts = gangHosts({"b", "a", "b", "c"});
  EXPECT_EQ(hosts.list, "b,a,b,c");
  EXPECT_EQ(hosts.file, "b slots=2\na slots=1\nc slots=1\n");
}

TEST(GangHosts, HaveNothingOfATaskWithoutAServerButItsPlaceInTheList) {
  const GangHosts hosts = gangHosts({"", "a", ""});
  EXPECT_EQ(hosts.list, ",a,");
  EXPECT_EQ(hosts.file, "a slots=1\n");
}

TEST(GangHosts, AreAsLongAsTheBound) {
  const std::string longest(kMaxGangHostsBytes - 2, 'a');
  EXPECT_EQ(gangHosts({longest, "b"}).list.size(), kMaxGangHostsBytes);
  EXPECT_EQ(gangHosts({longest, "bc"}).list, "");
  const std::string line(kMaxGangHostsBytes - std::string(" slots=1\n").size(), 'a');
  EXPECT_EQ(gangHosts({line}).file.size(), kMaxGangHostsBytes);
  EXPECT_EQ(gangHosts({line + "a"}).file, "");
}

// Nor are they a part of it, which would look like the whole.
TEST(GangHosts, OfManyTasksOnFewServersHaveAFileOnly) {
  const std::vector<std::string_view> hosts(100'000, "a");
  EXPECT_EQ(gangHosts(hosts).list, "");
  EXPECT_EQ(gangHosts(hosts).file, "a slots=100000\n");
}

TEST(GangHosts, AreNotCutOffWhereShortOnesWouldFitAgain) {
  const std::string longest(kMaxGangHostsBytes, 'a');
  const GangHosts hosts = gangHosts({"b", longest, "c"});
  EXPECT_EQ(hosts.list, "");
  EXPECT_EQ(hosts.file, "");
}

}  // namespace tarcil::gang_hosts_test
