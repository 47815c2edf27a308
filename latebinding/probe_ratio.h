// The number of reservations for each task, following the load (an answer to what Sparrow section 8
// leaves open).
#pragma once

#include <cstdint>

#include "core/base/time.h"
#include "latebinding/options.h"

namespace tarcil::late {

// What an agent knows of the load without asking: how many of its probes found a free slot at once. With a
// share p of such servers, d = 1/p probes for each task find one for it in expectation (Sparrow section 5: d
// >= 1/(1 - rho)); since arrivals are random, a quarter is added.
//
// But a slot whose ask finds no task waits a round trip for nothing, and under load each such wait causes
// others. So d - 1 round trips may take no more than a tenth of the time that a task runs.
//
// Both are of the last few thousand probes and tasks. O(1). Single-threaded.
class ProbeRatio {
 public:
  explicit ProbeRatio(const SchedulerOptions& options) : options_(options) {}

  double ratio() const;

  // So many reservations were sent.
  void noteProbes(uint64_t count);
  // One of them waited this long for a slot.
  void noteAsk(Duration queued);
  // A task ended, for which a slot waited so long and which ran so long.
  void noteTask(Duration getTask, Duration service);

 private:
  SchedulerOptions options_;
  // Each group is discounted together, so that ratios are those of recent events.
  double probes_ = 0, atOnce_ = 0;
  double tasks_ = 0, getTaskUs_ = 0, serviceUs_ = 0;
};

}  // namespace tarcil::late
