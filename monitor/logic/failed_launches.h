// When a monitor logs that tasks cannot be started by its server's own fault: at once, and then no more than
// a line every ten seconds, however many fail.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "core/base/time.h"

namespace tarcil::monitor {

class FailedLaunches {
 public:
  static constexpr Duration kPause = std::chrono::seconds(10);

  // One has failed. How many have since the last line, if one is due now.
  std::optional<uint32_t> note(MonotonicTime now) {
    ++sinceLine_;
    if (lastLine_ && now - *lastLine_ < kPause) return std::nullopt;
    lastLine_ = now;
    return std::exchange(sinceLine_, 0);
  }

 private:
  std::optional<MonotonicTime> lastLine_;
  uint32_t sinceLine_ = 0;
};

}  // namespace tarcil::monitor
