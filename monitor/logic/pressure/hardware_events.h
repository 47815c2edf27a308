// Which events of perf_event_open stand for which hardware counter, and what their numbers come to. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "monitor/logic/pressure/counters.h"

namespace tarcil {

// perf_event_attr::type and ::config.
struct HardwareEvent {
  uint32_t type = 0;
  uint64_t config = 0;

  bool operator==(const HardwareEvent&) const = default;
};

// An event for a counter. Where the processor lacks the first, the next is taken. Several choices may add up
// in one counter.
struct EventChoice {
  std::optional<double> HardwareCounts::*counter;
  std::vector<HardwareEvent> events;  // the best first
};

const std::vector<EventChoice>& hardwareEvents();

// What one descriptor of perf_event_open tells with PERF_FORMAT_TOTAL_TIME_ENABLED and _RUNNING.
struct RawCount {
  uint64_t value = 0;
  uint64_t enabled = 0;  // nanoseconds in which the event was to be counted
  uint64_t running = 0;  // of these, in which it was: the kernel takes turns between too many events
};

// One event on one core, summed up from reading to reading: each growth is scaled by the turns that it had
// itself, so that times of few turns do not colour the others.
class ScaledCount final {
 public:
  // Readings from the start on; the first counts from 0. A growth without a turn adds nothing, and is made
  // good by the next that has one.
  void take(const RawCount& raw);
  double total() const { return total_; }
  // Whether there was a turn, or no need for one.
  bool known() const { return last_.running > 0 || last_.enabled == 0; }

 private:
  RawCount last_{};
  double total_ = 0;
};

}  // namespace tarcil
