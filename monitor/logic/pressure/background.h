// Smooths what is measured and decides when to report it to the master. Pure.
//
// A change that matters is reported at once, a small one later, and the rate is bounded, since each change
// goes to every agent. The reported value stays while the smoothed one is within `threshold` of it
// (hysteresis), so that a load at the border between two values does not flap.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "core/base/time.h"
#include "core/state/server_pressure.h"
#include "monitor/logic/pressure/formulas.h"

namespace tarcil {

struct BackgroundOptions {
  // Time constant of the smoothing: after this long, 63 % of a step have arrived. Higher: calmer;
  // lower: quicker.
  Duration smoothing = std::chrono::seconds(5);
  // A smoothed value that differs this much from the reported one is reported at once. In points of pressure.
  double threshold = 3;
  // A smaller difference, of at least three quarters of a point, is reported when it has lasted this long, so
  // that the reported value is right in the end, and 0 when a load is gone.
  Duration settling = std::chrono::seconds(30);
  // Shortest time between two reports.
  Duration leastInterval = std::chrono::seconds(2);
};

class Background final {
 public:
  Background(std::string server, const BackgroundOptions& options)
      : options_(options), told_{std::move(server), {}, {}} {}

  // Takes what was measured at `now`, and returns the report for the master if one is due. The first is due
  // at once. A resource that was absent starts over when it is back. Requires: `now` does not decrease.
  std::optional<ServerPressure> take(const MeasuredPressure& measured, MonotonicTime now);

  // The smoothed values; nullopt: absent.
  const std::array<std::optional<double>, kResources>& smoothed() const { return smoothed_; }

 private:
  void smooth(const MeasuredPressure& measured, Duration since);
  bool isDue(const ServerPressure& current, MonotonicTime now);

  const BackgroundOptions options_;
  std::array<std::optional<double>, kResources> smoothed_{};
  std::optional<MonotonicTime> lastTaken_;
  std::optional<MonotonicTime> lastTold_;
  std::optional<MonotonicTime> offSince_;  // since when some value is off what was told
  ServerPressure told_;
};

}  // namespace tarcil
