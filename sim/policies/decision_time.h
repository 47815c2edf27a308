// What decisions and starts cost in a simulation.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "core/base/time.h"

namespace tarcil::sim {

// What the time of a decision is made of.
struct DecisionTime {
  Duration fixed = std::chrono::microseconds(2);
  std::chrono::nanoseconds perSlot{30};  // looked at; docs/benchmarks.md has both as measured
  std::optional<Duration> bound{};       // of what is spent on the slots, however many

  Duration of(uint64_t decisions, uint64_t slots) const;
};

// From a decision to the start, and from the end of a task until whoever decides knows of its units.
struct LaunchCosts {
  Duration toStart{}, toRelease{};
};

// As of agents and a master: the commit to the master, on disk, the answer and the launch; the report of the
// end, on disk, and its news.
inline LaunchCosts launchCostsOf(Duration oneWay, Duration durable) {
  return {.toStart = 3 * oneWay + durable, .toRelease = 2 * oneWay + durable};
}

}  // namespace tarcil::sim
