// What a user has used of a cluster since it was made.
#pragma once

#include <cstdint>
#include <string>

namespace tarcil {

struct Usage {
  std::string user;
  uint64_t ruMicroseconds = 0;  // resource units times how long tasks held them, whatever became of the tasks
  uint64_t attempts = 0;        // of tasks that held units and have ended
  uint64_t done = 0, failed = 0, cancelled = 0, lost = 0;  // jobs that ended so

  bool operator==(const Usage&) const = default;
};

}  // namespace tarcil
