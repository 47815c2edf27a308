// Notices that something does not go on that should: an event loop, or a disk.
#pragma once

#include <cstdint>

namespace tarcil {

// Looked at once a second. Looks count and not time, so that a process that was stopped itself (SIGSTOP)
// takes nothing for stalled. Pure.
class StallDetector final {
 public:
  static constexpr int kLooksUntilStalled = 5;

  enum class News : uint8_t { kNone, kStalled, kGoesOn };

  // `done` changes with everything that is done; `isAwaited`: there is something to do.
  News look(uint64_t done, bool isAwaited) {
    const bool hasMoved = done != done_ || !isAwaited;
    done_ = done;
    const bool wasStalled = looks_ >= kLooksUntilStalled;
    looks_ = hasMoved ? 0 : looks_ + 1;
    if (hasMoved) return wasStalled ? News::kGoesOn : News::kNone;
    return looks_ == kLooksUntilStalled ? News::kStalled : News::kNone;
  }

 private:
  uint64_t done_ = 0;
  int looks_ = 0;  // in a row at which nothing had moved
};

}  // namespace tarcil
