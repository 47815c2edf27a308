#include "monitor/logic/pressure/report_gate.h"

#include <algorithm>
#include <cmath>

namespace tarcil {
namespace {

// What is reported is whole points, so a value that stands still may be half a point off for ever.
constexpr double kOff = 0.75;

}  // namespace

bool ReportGate::isDue(const SmoothedPressure& smoothed, MonotonicTime now, bool isOther) {
  if (!lastReport_) return true;
  double off = 0;
  for (size_t i = 0; i < kResources; ++i) {
    off = std::max(off, std::abs(smoothed[i].value_or(0) - reported_[i].value_or(0)));
    isOther |= smoothed[i].has_value() != reported_[i].has_value();
  }
  if (off < kOff) {
    offSince_.reset();
  } else if (!offSince_) {
    offSince_ = now;
  }
  const bool matters =
      off >= options_.threshold || isOther || (offSince_ && now - *offSince_ >= options_.settling);
  return matters && now - *lastReport_ >= options_.leastInterval;
}

void ReportGate::report(const SmoothedPressure& smoothed, MonotonicTime now) {
  for (size_t i = 0; i < kResources; ++i) {
    reported_[i] = smoothed[i] ? std::optional(std::round(*smoothed[i])) : std::nullopt;
  }
  lastReport_ = now;
  offSince_.reset();
}

}  // namespace tarcil
