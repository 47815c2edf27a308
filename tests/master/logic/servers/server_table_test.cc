#include "master/logic/servers/server_table.h"

#include <gtest/gtest.h>

#include "tests/master/master_harness.h"

namespace tarcil::master::server_table_test {

// Servers a and b of four units each, both up.
struct FreeUnits : testing::Test {
  FreeUnits() {
    for (const char* name : {"a", "b"}) servers.add(serverFacts(name, 4), "m");
    for (ServerId id : {0u, 1u}) servers.setUp(servers.at(id), 1);
  }

  static Resident resident(AllocationId allocation, std::vector<RuIndex> rus) {
    Resident resident;
    resident.allocation = allocation;
    resident.rus = std::move(rus);
    return resident;
  }

  ServerTable servers{{}, {}, 1, MonotonicTime{}};
  Server& a() { return servers.at(0); }
};

TEST_F(FreeUnits, FollowTasks) {
  EXPECT_EQ(servers.freeUnits(), 8u);
  servers.occupy(a(), resident(1, {0, 1}));
  EXPECT_EQ(servers.freeUnits(), 6u);
  servers.resize(a(), 1, {0, 1, 2});
  EXPECT_EQ(servers.freeUnits(), 5u);
  servers.resize(a(), 1, {0});
  EXPECT_EQ(servers.freeUnits(), 7u);
  servers.vacate(a(), 1);
  EXPECT_EQ(servers.freeUnits(), 8u);
}

TEST_F(FreeUnits, FollowWhatIsUndone) {
  const ServerStatus before = a().status;
  servers.occupy(a(), resident(1, {0, 1}));
  servers.rollBack(a(), before, 0);
  EXPECT_EQ(servers.freeUnits(), 8u);
}

TEST_F(FreeUnits, AreThoseOfServersThatTakeTasks) {
  a().record.cordoned = true;
  servers.refreshCordon(a());
  EXPECT_EQ(servers.freeUnits(), 4u);
  servers.setDown(servers.at(1), MonotonicTime{});
  EXPECT_EQ(servers.freeUnits(), 0u);
  servers.setUp(servers.at(1), 2);
  a().record.cordoned = false;
  servers.refreshCordon(a());
  EXPECT_EQ(servers.freeUnits(), 8u);
}

TEST_F(FreeUnits, AreNotThoseOfPools) {
  late::PoolLease lease;
  lease.held.insert(3);
  servers.setPool(a(), lease);
  EXPECT_EQ(servers.freeUnits(), 7u);
  servers.setFacts(a(), serverFacts("a", 6));
  EXPECT_EQ(servers.freeUnits(), 9u);
}

TEST_F(FreeUnits, AreCountedAnewAfterAStart) {
  servers.setDown(a(), MonotonicTime{});
  servers.restore(servers.at(1), resident(1, {0, 1, 2}));
  servers.rebuildAll();
  EXPECT_EQ(servers.freeUnits(), 1u);
}

}  // namespace tarcil::master::server_table_test
