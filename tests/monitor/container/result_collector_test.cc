#include "monitor/container/result_collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <vector>

namespace tarcil::result_collector_test {

using testing::ElementsAre;

// Stands still until it is let go; each look takes a second then.
class HeldClock final : public Clock {
 public:
  Now now() const override {
    std::unique_lock lock(mutex_);
    ++looks_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return isFree_; });
    now_.steady += std::chrono::seconds(1);
    return now_;
  }
  void waitUntilLookedAt() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return looks_ > 0; });
  }
  void letGo() {
    const std::lock_guard lock(mutex_);
    isFree_ = true;
    changed_.notify_all();
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable int looks_ = 0;
  mutable Now now_{};
  bool isFree_ = false;
};

TEST(ResultCollector, LetsSubmittersTakeTurns) {
  HeldClock clock;
  ResultCollector collector(clock);
  const auto collect = [&collector](const std::string& submitter, AllocationId allocation) {
    collector.collect(submitter, {allocation, "/nonexistent", {"*"}});
  };
  collect("alice", 1);
  clock.waitUntilLookedAt();
  collect("alice", 2);
  collect("alice", 3);
  collect("bob", 4);
  clock.letGo();
  std::vector<AllocationId> order;
  while (order.size() < 4) {
    pollfd ready{collector.fd(), POLLIN, 0};
    ASSERT_EQ(::poll(&ready, 1, 60'000), 1);
    for (const ResultCollector::Kept& kept : collector.kept()) order.push_back(kept.allocation);
  }
  EXPECT_THAT(order, ElementsAre(1, 4, 2, 3));
}

}  // namespace tarcil::result_collector_test
