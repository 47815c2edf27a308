// Decides when a smoothed pressure is reported to the master. Pure.
//
// A change that matters is reported at once, a small one later, and the rate is bounded, since each change
// goes to every agent. The reported value stays while the smoothed one is within `threshold` of it
// (hysteresis), so that a load at the border between two values does not flap.
#pragma once

#include <optional>

#include "monitor/logic/pressure/smoothing.h"

namespace tarcil {

struct ReportOptions {
  // A smoothed value that differs this much from the reported one is reported at once. In points of pressure.
  double threshold = 3;
  // A smaller difference, of at least three quarters of a point, is reported when it has lasted this long, so
  // that the reported value is right in the end, and 0 when a load is gone.
  Duration settling = std::chrono::seconds(30);
  // Shortest time between two reports.
  Duration leastInterval = std::chrono::seconds(2);
};

class ReportGate final {
 public:
  explicit ReportGate(const ReportOptions& options) : options_(options) {}

  // Whether these values are to be reported now. The first are, those of which others are absent than before,
  // and those of which something else `isOther`. Requires: `now` does not decrease.
  bool isDue(const SmoothedPressure& smoothed, MonotonicTime now, bool isOther = false);
  // They are reported now.
  void report(const SmoothedPressure& smoothed, MonotonicTime now);

 private:
  const ReportOptions options_;
  SmoothedPressure reported_{};  // in whole points
  std::optional<MonotonicTime> lastReport_;
  std::optional<MonotonicTime> offSince_;  // since when some value is off what was reported
};

}  // namespace tarcil
