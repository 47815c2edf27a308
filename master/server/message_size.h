// How much goes into one message: what is long is told in several.
#pragma once

#include <cstddef>

#include "core/state/job_state.h"
#include "core/state/server.h"

namespace tarcil {

// Roughly what they take in a message.
size_t wireBytesOf(const ServerStatus& status);
size_t wireBytesOf(const ServerFacts& facts);
size_t wireBytesOf(const JobAssignment& assignment);

// One message of a list.
class Page final {
 public:
  // Whether an element of this size goes into it; the first always does.
  bool takes(size_t bytes) {
    if (bytes_ > 0 && bytes_ + bytes > kMost) return false;
    bytes_ += bytes;
    return true;
  }

 private:
  // Small enough not to hold up an event loop.
  static constexpr size_t kMost = 1 << 20;

  size_t bytes_ = 0;
};

}  // namespace tarcil
