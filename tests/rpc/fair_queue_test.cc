#include "rpc/fair_queue.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/base/rng.h"

namespace tarcil::fair_queue_test {

using Queue = FairQueue<int>;
constexpr Duration kCost = std::chrono::microseconds(10);

std::string takeOne(Queue& queue, Duration cost = kCost) {
  const auto next = queue.pop();
  if (!next) return "";
  queue.charge(next->user, cost);
  return next->user;
}

TEST(FairQueue, GivesItemsOfOneUserInTheirOrder) {
  Queue queue;
  for (int i = 0; i < 5; ++i) queue.push("ann", i);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(queue.pop()->item, i);
  EXPECT_FALSE(queue.pop());
}

TEST(FairQueue, LetsWhoHasLittleComeBeforeAnothersBacklog) {
  Queue queue;
  for (int i = 0; i < 1'000; ++i) queue.push("flood", i);
  for (int i = 0; i < 10; ++i) takeOne(queue);
  queue.push("ann", 0);
  const std::string first = takeOne(queue), second = takeOne(queue);
  EXPECT_TRUE(first == "ann" || second == "ann");
}

// Whatever the calls cost, users that always have some get the same time.
TEST(FairQueue, SharesByCostAndNotByNumber) {
  Queue queue;
  Rng rng(1);
  std::map<std::string, Duration> cost, each = {{"cheap", Duration(5)}, {"dear", Duration(500)}};
  for (int i = 0; i < 20'000; ++i) {
    queue.push("cheap", i);
    queue.push("dear", i);
  }
  for (int i = 0; i < 15'000; ++i) {
    const auto next = queue.pop();
    ASSERT_TRUE(next);
    const Duration took = each.at(next->user) + Duration(static_cast<int64_t>(rng.below(5)));
    queue.charge(next->user, took);
    cost[next->user] += took;
  }
  EXPECT_LE(cost["dear"] - cost["cheap"], Duration(510));
  EXPECT_GE(cost["dear"] - cost["cheap"], -Duration(510));
}

TEST(FairQueue, SavesNothingUpForThoseWhoWereAway) {
  Queue queue;
  for (int i = 0; i < 300; ++i) queue.push("ann", i);
  for (int i = 0; i < 100; ++i) takeOne(queue);
  for (int i = 0; i < 100; ++i) queue.push("bob", i);
  int ofBob = 0;
  for (int i = 0; i < 20; ++i) ofBob += takeOne(queue) == "bob" ? 1 : 0;
  EXPECT_NEAR(ofBob, 10, 1) << "not all that ann has had before";
}

TEST(FairQueue, WritesNothingOffForAShortAbsence) {
  Queue queue;
  for (int i = 0; i < 10; ++i) queue.push("ann", i);
  queue.push("dear", 0);
  takeOne(queue);  // the one or the other, at the same cost
  while (queue.waiting("dear") > 0) {
    const auto next = queue.pop();
    queue.charge(next->user, next->user == "dear" ? 5 * kCost : kCost);
  }
  queue.push("dear", 1);
  int before = 0;
  while (takeOne(queue) != "dear") ++before;
  EXPECT_GE(before, 4) << "what the first has cost counts";
}

TEST(FairQueue, ForgetsUsersWhoWouldStartLevel) {
  Queue queue;
  for (int i = 0; i < 10'000; ++i) {
    queue.push("user-" + std::to_string(i), i);
    takeOne(queue);
  }
  EXPECT_LE(queue.users(), 2u);
}

}  // namespace tarcil::fair_queue_test
