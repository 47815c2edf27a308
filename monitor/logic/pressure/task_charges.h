// What each task of a server is charged for by what it was measured to cause, and when the master is to hear
// of it. Pure.
//
// The estimate goes up within seconds and down over minutes (smoothing.h, with a time constant each), so that
// a task that presses now and then is charged for what it does then, and none gets a neighbour that it is
// about to press on. Nothing is said of a task before it was measured for `enough`; until then its profile
// counts.
#pragma once

#include <map>
#include <vector>

#include "core/state/server_pressure.h"
#include "monitor/logic/pressure/report_gate.h"

namespace tarcil {

struct ChargeOptions {
  Smoothing smoothing{std::chrono::seconds(2), std::chrono::seconds(60)};
  Duration enough = std::chrono::seconds(5);
  ReportOptions reports{};
};

class TaskCharges final {
 public:
  explicit TaskCharges(const ChargeOptions& options) : options_(options) {}

  // Takes what the tasks that run now were measured to cause, up to `now`; others are forgotten. Whether the
  // master is to hear of reports(). Requires: `now` does not decrease.
  bool take(const std::map<AllocationId, MeasuredPressure>& measured, MonotonicTime now);

  // As they were when the master was to hear of them last, by allocation.
  std::vector<TaskPressure> reports() const;

 private:
  struct Task {
    MonotonicTime since, lastTaken;
    SmoothedPressure smoothed{};
    ReportGate gate;
    std::optional<TaskPressure> reported{};
  };

  const ChargeOptions options_;
  std::map<AllocationId, Task> tasks_;
};

}  // namespace tarcil
