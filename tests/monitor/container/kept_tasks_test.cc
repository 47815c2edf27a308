#include "monitor/container/kept_tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace tarcil::kept_tasks_test {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr WallTime kNow{std::chrono::hours(1000)};

std::vector<AllocationId> excessOf(KeptTasks& kept, WallTime now = kNow) {
  std::vector<AllocationId> taken;
  while (const auto task = kept.takeExcess(now)) taken.push_back(task->allocation);
  return taken;
}

std::vector<AllocationId> allOf(const KeptTasks& kept) {
  std::vector<AllocationId> all;
  for (const KeptTasks::Task& task : kept.all()) all.push_back(task.allocation);
  return all;
}

TEST(KeptTasks, OfOneSubmitterTheOldestGoes) {
  KeptTasks kept({.tasks = 2});
  for (const AllocationId allocation : {1, 2, 3, 4}) kept.add({allocation, "alice", 10, kNow});
  EXPECT_THAT(excessOf(kept), ElementsAre(1, 2));
  EXPECT_THAT(allOf(kept), ElementsAre(3, 4));
}

TEST(KeptTasks, ManyOfOneSubmitterDoNotPushOutTheFewOfAnother) {
  KeptTasks kept({.tasks = 3});
  kept.add({1, "alice", 10, kNow});
  for (const AllocationId allocation : {2, 3, 4, 5, 6}) {
    kept.add({allocation, "bob", 10, kNow});
    excessOf(kept);
  }
  EXPECT_THAT(allOf(kept), ElementsAre(1, 5, 6));
}

TEST(KeptTasks, OfTooManyBytesThoseGoOfWhoHasMostOfThem) {
  KeptTasks kept({.tasks = 100, .bytes = 100});
  kept.add({1, "alice", 10, kNow});
  kept.add({2, "alice", 10, kNow});
  kept.add({3, "bob", 70, kNow});
  kept.add({4, "bob", 20, kNow});
  EXPECT_THAT(excessOf(kept), ElementsAre(3));
  EXPECT_THAT(allOf(kept), ElementsAre(1, 2, 4));
}

TEST(KeptTasks, WhatIsTooOldGoesWhoseverItIs) {
  KeptTasks kept({.age = std::chrono::hours(2)});
  kept.add({1, "alice", 10, kNow});
  kept.add({2, "bob", 10, kNow + std::chrono::hours(1)});
  EXPECT_THAT(excessOf(kept, kNow + std::chrono::hours(2)), IsEmpty());
  EXPECT_THAT(excessOf(kept, kNow + std::chrono::hours(2) + Duration(1)), ElementsAre(1));
}

TEST(KeptTasks, GiveOneUpForAnotherOnlyWhereThereIsNoRoom) {
  KeptTasks kept({.tasks = 2});
  kept.add({1, "alice", 10, kNow});
  EXPECT_FALSE(kept.takeForAnother("bob"));
  kept.add({2, "bob", 10, kNow});
  EXPECT_EQ(kept.takeForAnother("bob")->allocation, 2u) << "bob would have two";
  kept.add({3, "bob", 10, kNow});
  EXPECT_EQ(kept.takeForAnother("carol")->allocation, 1u) << "all as many: the oldest";
}

}  // namespace tarcil::kept_tasks_test
