// Tasks that fall short of what their jobs expect, or did so a while ago (docs/protocol.md), and tasks that
// are throttled, or were.
#pragma once

#include <algorithm>
#include <bitset>
#include <optional>
#include <string>
#include <vector>

#include "core/model/performance.h"
#include "master/logic/health/due_tasks.h"

namespace tarcil::master {

struct DegradedTask {
  std::optional<Violation> violation;  // as its monitor reported it last; none once it is over
  Duration calm{};                     // what was done is undone when it has been over for so long
  MonotonicTime nextStep{};            // not before
  MonotonicTime grownSince{};          // units beyond those it asked for are accounted for up to here
  std::vector<RuIndex> resizing;       // units requested of its monitor and not confirmed; empty: none
  bool grows = false;                  // the last of those is one that it never had
  bool previewed = false;              // logged: who would be throttled for it
  bool outranked = false;              // logged: a job waits that could use the units of its server
  bool autoCordoned = false;           // its server was auto-cordoned for it
  std::optional<std::string> failed;   // why its monitor cannot give it more units
  size_t lookedAt = 0;                 // servers, in search of a better one
};

// The next DegradedTask::calm, of a task whose violation came back.
inline Duration longerCalm(Duration calm) {
  constexpr Duration kMaxCalm = std::chrono::hours(1);
  return std::min(2 * calm, kMaxCalm);
}

// Each has something due: the next step is to be taken, or undone.
using ViolationTable = DueTasks<DegradedTask>;

struct ThrottledTask {
  Throttle throttle;                            // as its monitor was told last
  Duration calm{};                              // it is eased when its server was well for so long
  std::bitset<kThrottleShares.size()> refused;  // of these its monitor cannot take any

  bool isRefused(double Throttle::*share) const {
    return refused[static_cast<size_t>(std::ranges::find(kThrottleShares, share) - kThrottleShares.begin())];
  }
};

// Until its attempt ends, each task that was throttled. Due while it is: when it is to be eased.
using ThrottleTable = DueTasks<ThrottledTask>;

}  // namespace tarcil::master
