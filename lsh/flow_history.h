// How many units entered each bucket, by time: what waits are estimated from.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/time.h"

namespace tarcil {

// Time is cut into intervals of equal length, counted from the first time that is told; those of the window
// are kept. Memory: 4 bytes for each bucket and interval, and 8 for each bucket. Single-threaded.
class FlowHistory {
 public:
  // Requires: 0 < interval <= window.
  FlowHistory(Duration window, Duration interval);

  // Sets the number of buckets; new ones have no past. Requires: not fewer than there are.
  void grow(size_t buckets);

  // Intervals that have ended by now are closed, those older than the window forgotten. Nothing happens where
  // `now` is not later than what was told before. O(buckets) for each interval that has passed.
  void advance(MonotonicTime now);

  // So many units have come into (or, below 0, gone from) the bucket in the interval that is open.
  // Requires: advance() was called once.
  void add(uint32_t bucket, int32_t units) { open_[bucket] += units; }

  // Intervals that are closed and within the window.
  size_t closed() const { return closed_; }
  Duration interval() const { return interval_; }

  // Units that came into the bucket in all closed intervals.
  int64_t total(uint32_t bucket) const { return totals_[bucket]; }

  // For each closed interval, the oldest first, the units that came into the buckets whose mask is all ones;
  // those of mask 0 are left out. O(intervals * buckets), some ten of them in a nanosecond.
  // Requires: as many masks as buckets.
  void sums(std::span<const uint32_t> masks, std::vector<int64_t>& sums) const;

 private:
  int32_t* row(size_t number) { return rows_.data() + number * stride_; }
  const int32_t* row(size_t number) const { return rows_.data() + number * stride_; }
  void closeOne();

  const Duration interval_;
  const size_t capacity_;  // of closed intervals
  size_t buckets_ = 0;
  size_t stride_ = 0;            // buckets_, rounded up
  std::vector<int32_t> rows_;    // one for each interval, the open one included; a ring
  std::vector<int64_t> totals_;  // of the closed intervals
  int32_t* open_ = nullptr;
  size_t openRow_ = 0;
  size_t closed_ = 0;
  bool started_ = false;
  MonotonicTime openEnds_{};
};

}  // namespace tarcil
