// What a user has used of a cluster since it was made, and may use of it beside others.
#pragma once

#include <cstdint>
#include <string>

namespace tarcil {

inline constexpr uint32_t kMaxShares = 1'000;
// Of whom a cluster keeps usage and shares.
inline constexpr size_t kMaxUsers = 100'000;

struct Usage {
  std::string user;
  uint64_t ruMicroseconds = 0;  // resource units times how long tasks held them, whatever became of the tasks
  uint64_t attempts = 0;        // of tasks that held units and have ended
  uint64_t done = 0, failed = 0, cancelled = 0, lost = 0;  // jobs that ended so
  // Where users of one priority wait, units go to them in proportion to their shares. 1 to kMaxShares.
  uint32_t shares = 1;

  bool operator==(const Usage&) const = default;
};

}  // namespace tarcil
