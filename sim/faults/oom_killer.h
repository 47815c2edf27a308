// The kernel's OOM killer on one process: it strikes when the process has most in its queues.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include "core/base/time.h"

namespace tarcil::sim {

class OomKiller {
 public:
  // Looks until then how long the queues get; strikes afterwards, as soon as they are as long again.
  void watch(MonotonicTime until) {
    until_ = until;
    longest_ = 0;
  }
  void callOff() { until_.reset(); }
  bool isWatching() const { return until_.has_value(); }

  // Asked after each event of the process. Once it has struck it watches no more.
  bool strikes(size_t queued, MonotonicTime now) {
    if (!until_) return false;
    longest_ = std::max(longest_, queued);
    if (now < *until_ || queued < longest_) return false;
    until_.reset();
    return true;
  }

 private:
  std::optional<MonotonicTime> until_;
  size_t longest_ = 0;
};

}  // namespace tarcil::sim
