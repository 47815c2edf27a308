#include "monitor/logic/pressure/background.h"

namespace tarcil {

std::optional<ServerPressure> Background::take(const MeasuredPressure& measured, MonotonicTime now) {
  const Duration since = lastTaken_ ? now - *lastTaken_ : Duration::zero();
  smooth(smoothed_, measured, since, {options_.smoothing, options_.smoothing});
  lastTaken_ = now;
  if (!gate_.isDue(smoothed_, now)) return std::nullopt;
  gate_.report(smoothed_, now);
  reported_.background = rounded(smoothed_);
  reported_.absent.clear();
  for (size_t i = 0; i < kResources; ++i) {
    if (smoothed_[i]) continue;
    const std::string why = measured[i].ok() ? "is not a number" : measured[i].error().message;
    reported_.absent.push_back({static_cast<Resource>(i), why});
  }
  return reported_;
}

}  // namespace tarcil
