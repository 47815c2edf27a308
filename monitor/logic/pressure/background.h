// The background of a server from measurement to measurement, and when the master is to hear of it. Pure.
#pragma once

#include <optional>
#include <string>

#include "core/base/time.h"
#include "core/state/server_pressure.h"
#include "monitor/logic/pressure/report_gate.h"

namespace tarcil {

struct BackgroundOptions {
  Duration smoothing = std::chrono::seconds(5);  // time constant, up and down
  ReportOptions reports{};
};

class Background final {
 public:
  Background(std::string server, const BackgroundOptions& options)
      : options_(options), gate_(options.reports), reported_{std::move(server), {}, {}} {}

  // Takes what was measured at `now`, and returns the report for the master if one is due. The first is due
  // at once. Requires: `now` does not decrease.
  std::optional<ServerPressure> take(const MeasuredPressure& measured, MonotonicTime now);

  const SmoothedPressure& smoothed() const { return smoothed_; }
  // The latest report.
  const ServerPressure& reported() const { return reported_; }

 private:
  const BackgroundOptions options_;
  SmoothedPressure smoothed_{};
  std::optional<MonotonicTime> lastTaken_;
  ReportGate gate_;
  ServerPressure reported_;
};

}  // namespace tarcil
