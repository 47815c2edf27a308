#include "lsh/flow_history.h"

#include <algorithm>

namespace tarcil {

FlowHistory::FlowHistory(Duration window, Duration interval)
    : interval_(interval), capacity_(static_cast<size_t>(window / interval)) {}

void FlowHistory::grow(size_t buckets) {
  const size_t stride = (buckets + 3) / 4 * 4;
  std::vector<int32_t> rows((capacity_ + 1) * stride, 0);
  for (size_t number = 0; number <= capacity_ && buckets_ > 0; ++number) {
    std::copy_n(row(number), buckets_, rows.data() + number * stride);
  }
  rows_.swap(rows);
  stride_ = stride;
  buckets_ = buckets;
  totals_.resize(buckets, 0);
  open_ = row(openRow_);
}

void FlowHistory::advance(MonotonicTime now) {
  if (!started_) {
    started_ = true;
    openEnds_ = now + interval_;
  }
  if (now < openEnds_) return;
  const auto ended = static_cast<size_t>((now - openEnds_) / interval_) + 1;
  // After a longer silence than the window every interval of it is empty, however many more have passed.
  for (size_t i = 0; i < std::min(ended, capacity_ + 1); ++i) closeOne();
  openEnds_ += interval_ * static_cast<int64_t>(ended);
}

void FlowHistory::closeOne() {
  for (size_t bucket = 0; bucket < buckets_; ++bucket) totals_[bucket] += open_[bucket];
  openRow_ = (openRow_ + 1) % (capacity_ + 1);
  open_ = row(openRow_);
  // Where the ring is full this row is the oldest.
  for (size_t bucket = 0; bucket < buckets_; ++bucket) totals_[bucket] -= open_[bucket];
  std::fill_n(open_, stride_, 0);
  closed_ = std::min(closed_ + 1, capacity_);
}

void FlowHistory::sums(std::span<const uint32_t> masks, std::vector<int64_t>& sums) const {
  sums.resize(closed_);
  size_t number = (openRow_ + capacity_ + 1 - closed_) % (capacity_ + 1);
  for (size_t i = 0; i < closed_; ++i) {
    const int32_t* units = row(number);
    // In an interval fewer units come in than 32 bits count.
    int32_t sum = 0;
    for (size_t bucket = 0; bucket < buckets_; ++bucket)
      sum += units[bucket] & static_cast<int32_t>(masks[bucket]);
    sums[i] = sum;
    number = number == capacity_ ? 0 : number + 1;
  }
}

}  // namespace tarcil
