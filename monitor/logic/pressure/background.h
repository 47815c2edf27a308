// Smooths what is measured and decides when the master is to hear of it. Pure.
//
// A change that matters is told at once, small ones are not, and a bound keeps a server from being told of
// all the time: each change goes to every agent. What has been told stays as it is while the smoothed value
// is within `threshold` of it, so a load at the border between two values does not flap.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "core/base/time.h"
#include "core/state/server_pressure.h"
#include "monitor/logic/pressure/formulas.h"

namespace tarcil {

struct BackgroundOptions {
  // Time constant of the smoothing: after this long, 63 % of a jump have arrived. More is calmer, less is
  // quicker.
  Duration smoothing = std::chrono::seconds(5);
  // A smoothed value that is so far from the one told is told at once. In points of pressure.
  double threshold = 3;
  // A smaller difference, of three quarters of a point at least, is told when it has lasted so long: so what
  // is told is right in the end, and 0 when a load is gone.
  Duration settling = std::chrono::seconds(30);
  // Least time between two messages.
  Duration leastInterval = std::chrono::seconds(2);
};

class Background final {
 public:
  Background(std::string server, const BackgroundOptions& options)
      : options_(options), told_{std::move(server), {}, {}} {}

  // Takes what was measured at `now`; the message for the master where one is due. The first is due at once.
  // A resource that is absent begins anew when it is back. Requires: `now` does not fall.
  std::optional<ServerPressure> take(const MeasuredPressure& measured, MonotonicTime now);

  // Smoothed, now; nullopt: absent.
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
