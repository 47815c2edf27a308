// How much goes into one message: what is long is told in several.
#pragma once

#include <cstddef>

#include "core/state/job_state.h"
#include "core/state/observed_profile.h"
#include "core/state/server.h"
#include "core/state/stored_profile.h"
#include "master/logic/master_logic.h"

namespace tarcil {

// Roughly what they take in a message.
size_t wireBytesOf(const ServerStatus& status);
size_t wireBytesOf(const ServerFacts& facts);
size_t wireBytesOf(const JobAssignment& assignment);
size_t wireBytesOf(const ServerView& server);  // without its tasks
size_t wireBytesOf(const StoredProfile& profile);
size_t wireBytesOf(const Profiling& profiling);
size_t wireBytesOf(const ObservedProfile& observed);

// Small enough not to hold up an event loop.
inline constexpr size_t kMessageBytes = 1 << 20;

// One message of a list.
class Page final {
 public:
  explicit Page(size_t most = kMessageBytes) : most_(most) {}

  // Whether an element of this size goes into it; the first always does.
  bool takes(size_t bytes) {
    if (bytes_ > 0 && bytes_ + bytes > most_) return false;
    bytes_ += bytes;
    return true;
  }

 private:
  const size_t most_;
  size_t bytes_ = 0;
};

}  // namespace tarcil
