#include "profiler/calibration.h"

#include <algorithm>
#include <cmath>

namespace tarcil {

std::optional<double> worstError(const ResourceCalibration& resource) {
  std::optional<double> worst;
  for (const DialPoint& point : resource.reached) {
    worst = std::max(worst.value_or(0), std::abs(point.value - point.intensity));
  }
  return worst;
}

int settingFor(const ResourceCalibration& resource, int intensity) {
  DialPoint before;
  for (const DialPoint& point : resource.settings) {
    if (intensity <= point.intensity) {
      const double along =
          static_cast<double>(intensity - before.intensity) / (point.intensity - before.intensity);
      return static_cast<int>(std::lround(before.value + along * (point.value - before.value)));
    }
    before = point;
  }
  return intensity;
}

int nextSetting(int intensity, int setting, double reached) {
  if (reached <= 0) return kFarthestSetting;
  return std::min(kFarthestSetting, static_cast<int>(std::lround(setting * intensity / reached)));
}

std::optional<int> pressureThatTakes(const ResourceCalibration& resource, double share) {
  if (resource.absent || resource.notContended || resource.lost.empty()) return std::nullopt;
  DialPoint before;
  for (const DialPoint& point : resource.lost) {
    // Noise may let a stronger kernel take less: then the weaker one told all there is to tell.
    const double value = std::max(point.value, before.value);
    if (share <= value && value > before.value) {
      const double along = std::clamp((share - before.value) / (value - before.value), 0.0, 1.0);
      return static_cast<int>(std::lround(before.intensity + along * (point.intensity - before.intensity)));
    }
    before = {point.intensity, value};
  }
  // More than a kernel on all the other cores takes.
  return kMaxPressure;
}

double shareFound(double fits, double exceeds, double times, double step) {
  const double missing = (exceeds - fits / times) / (1 - 1 / times);
  return missing > fits ? std::clamp((missing - step) / (missing - fits), 0.0, 1.0) : 1;
}

}  // namespace tarcil
