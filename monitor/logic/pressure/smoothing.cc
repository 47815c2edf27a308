#include "monitor/logic/pressure/smoothing.h"

#include <algorithm>
#include <cmath>

namespace tarcil {
namespace {

double weightOf(Duration since, Duration timeConstant) {
  if (timeConstant <= Duration::zero()) return 1;
  return 1 - std::exp(-static_cast<double>(since.count()) / static_cast<double>(timeConstant.count()));
}

}  // namespace

void smooth(SmoothedPressure& smoothed, const MeasuredPressure& measured, Duration since,
            const Smoothing& smoothing) {
  const double up = weightOf(since, smoothing.up), down = weightOf(since, smoothing.down);
  for (size_t i = 0; i < kResources; ++i) {
    std::optional<double>& value = smoothed[i];
    if (!measured[i].ok() || std::isnan(*measured[i])) {
      value.reset();
      continue;
    }
    const double now = std::clamp(*measured[i], 0.0, double{kMaxPressure});
    value = value ? *value + (now > *value ? up : down) * (now - *value) : now;
  }
}

Pressure rounded(const SmoothedPressure& smoothed) {
  Pressure pressure{};
  for (size_t i = 0; i < kResources; ++i) {
    if (smoothed[i]) pressure[i] = static_cast<uint8_t>(std::lround(*smoothed[i]));
  }
  return pressure;
}

}  // namespace tarcil
