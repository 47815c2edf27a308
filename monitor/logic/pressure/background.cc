#include "monitor/logic/pressure/background.h"

namespace tarcil {
namespace {

std::vector<AbsentPressure> absentIn(const SmoothedPressure& smoothed, const MeasuredPressure& measured) {
  std::vector<AbsentPressure> absent;
  for (size_t i = 0; i < kResources; ++i) {
    if (smoothed[i]) continue;
    const std::string why = measured[i].ok() ? "is not a number" : measured[i].error().message;
    absent.push_back({static_cast<Resource>(i), why});
  }
  return absent;
}

}  // namespace

std::optional<ServerPressure> Background::take(const MeasuredPressure& measured, MonotonicTime now) {
  const Duration since = lastTaken_ ? now - *lastTaken_ : Duration::zero();
  smooth(smoothed_, measured, since, {options_.smoothing, options_.smoothing});
  lastTaken_ = now;
  std::vector<AbsentPressure> absent = absentIn(smoothed_, measured);
  if (!gate_.isDue(smoothed_, now, absent != reported_.absent)) return std::nullopt;
  gate_.report(smoothed_, now);
  reported_.background = rounded(smoothed_);
  reported_.absent = std::move(absent);
  return reported_;
}

}  // namespace tarcil
