// What a monitor and the master tell each other about the units that late-bound tasks run
// on (docs/late-binding.md).
//
// A monitor has one report under way and repeats it until it is answered; the master handles each once. So
// the monitor's units change only in the answer to its own report, and the master's record of them only with
// a report: whatever is lost, repeated or late, a unit is in the pool for the master at least as long as for
// the monitor.
#pragma once

#include <cstdint>
#include <string>

#include "core/model/resources.h"
#include "core/state/ru_set.h"

namespace tarcil::late {

struct PoolReport {
  // Rises with every start of the monitor. One that starts has no units: whatever ran on them has ended.
  uint64_t incarnation = 0;
  uint64_t sequence = 0;  // from 1 in each incarnation
  uint32_t wanted = 0;    // units that the pool would have, all together
  uint32_t least = 0;     // of these, so many whatever committed jobs wait for
  RuSet returned{};       // no task runs on these, and none will

  bool operator==(const PoolReport&) const = default;
};

struct PoolAnswer {
  uint64_t incarnation = 0;
  uint64_t sequence = 0;  // of the report
  RuSet granted{};        // in the pool from now on

  bool operator==(const PoolAnswer&) const = default;
};

// The pool is to have no more units than this, or than its least: committed jobs need the others. The monitor
// stops using what is beyond as tasks end, and returns it. Holds until the next, which has a higher revision.
struct PoolLimit {
  uint64_t revision = 0;
  uint32_t units = UINT32_MAX;
};

// What the late-bound tasks of a server cause together, smoothed; replaces what was told before. Not on disk:
// told again after each attach.
struct PoolPressure {
  std::string server;
  PressureSum caused{};  // as in the jobs' profiles, unscaled
};

}  // namespace tarcil::late
