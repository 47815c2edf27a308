#include "lsh/flow_history.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <vector>

namespace tarcil::flow_history_test {

using std::chrono::hours;
using std::chrono::seconds;

constexpr MonotonicTime kStart{hours(1)};
constexpr uint32_t kAll = UINT32_MAX;

std::vector<int64_t> sums(const FlowHistory& history, const std::vector<uint32_t>& masks) {
  std::vector<int64_t> sums;
  history.sums(masks, sums);
  return sums;
}

TEST(FlowHistory, KeepsWhatCameByInterval) {
  FlowHistory history(seconds(40), seconds(10));
  history.grow(2);
  history.advance(kStart);
  history.add(0, 3);
  history.advance(kStart + seconds(10));
  history.add(1, 5);
  history.add(0, -1);
  history.advance(kStart + seconds(29));
  EXPECT_EQ(sums(history, {kAll, kAll}), (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(sums(history, {kAll, 0}), (std::vector<int64_t>{3, -1}));
  EXPECT_EQ(history.total(0), 2);
  EXPECT_EQ(history.total(1), 5);
}

TEST(FlowHistory, DoesNotCountTheIntervalThatIsOpen) {
  FlowHistory history(seconds(40), seconds(10));
  history.grow(1);
  history.advance(kStart);
  history.add(0, 3);
  history.advance(kStart + seconds(9));
  EXPECT_EQ(history.closed(), 0u);
  EXPECT_EQ(history.total(0), 0);
}

TEST(FlowHistory, ForgetsEverythingInASilenceOfItsWindow) {
  FlowHistory history(seconds(40), seconds(10));
  history.grow(1);
  history.advance(kStart);
  history.add(0, 3);
  history.advance(kStart + hours(100'000));
  EXPECT_EQ(sums(history, {kAll}), (std::vector<int64_t>{0, 0, 0, 0}));
  EXPECT_EQ(history.total(0), 0);
}

// Against every unit with its interval, kept for ever.
RC_GTEST_PROP(FlowHistory, HoldsWhatItsWindowHolds, ()) {
  const int capacity = *rc::gen::inRange(1, 6);
  FlowHistory history(seconds(10 * capacity), seconds(10));
  uint32_t buckets = *rc::gen::inRange(1, 6);
  history.grow(buckets);
  history.advance(kStart);
  std::map<std::pair<int64_t, uint32_t>, int64_t> units;
  int64_t now = 0;  // seconds
  const int steps = *rc::gen::inRange(0, 60);
  for (int i = 0; i < steps; ++i) {
    const int what = *rc::gen::inRange(0, 10);
    if (what == 0) {
      history.grow(buckets += *rc::gen::inRange(0u, 3u));
    } else if (what < 5) {
      now += *rc::gen::oneOf(rc::gen::inRange(0, 25), rc::gen::inRange(0, 100));
      history.advance(kStart + seconds(now));
    } else {
      const auto bucket = *rc::gen::inRange(0u, buckets);
      const int came = *rc::gen::inRange(-5, 20);
      history.add(bucket, came);
      units[{now / 10, bucket}] += came;
    }
  }
  const int64_t open = now / 10;
  const int64_t closed = std::min<int64_t>(open, capacity);
  RC_ASSERT(history.closed() == static_cast<size_t>(closed));
  const auto masks = *rc::gen::container<std::vector<uint32_t>>(buckets, rc::gen::element(0u, kAll));
  std::vector<int64_t> expected(static_cast<size_t>(closed), 0);
  std::vector<int64_t> totals(buckets, 0);
  for (const auto& [where, came] : units) {
    const auto& [interval, bucket] = where;
    if (interval < open - closed || interval >= open) continue;
    totals[bucket] += came;
    if (masks[bucket] != 0) expected[static_cast<size_t>(interval - (open - closed))] += came;
  }
  RC_ASSERT(sums(history, masks) == expected);
  for (uint32_t bucket = 0; bucket < buckets; ++bucket) RC_ASSERT(history.total(bucket) == totals[bucket]);
}

}  // namespace tarcil::flow_history_test
