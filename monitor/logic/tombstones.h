// Allocations that are never to be started, or never again.
#pragma once

#include <cstddef>
#include <deque>
#include <unordered_set>

#include "core/base/ids.h"

namespace tarcil {

// Holds the newest `bound` of them: a launch that is later than that is beyond any retry.
class Tombstones final {
 public:
  explicit Tombstones(size_t bound) : bound_(bound) {}

  void add(AllocationId allocation) {
    if (!members_.insert(allocation).second) return;
    order_.push_back(allocation);
    if (order_.size() <= bound_) return;
    members_.erase(order_.front());
    order_.pop_front();
  }

  bool contains(AllocationId allocation) const { return members_.contains(allocation); }

 private:
  const size_t bound_;
  std::deque<AllocationId> order_;  // oldest first
  std::unordered_set<AllocationId> members_;
};

}  // namespace tarcil
