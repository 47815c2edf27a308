#include "monitor/logic/pressure/background.h"

#include <algorithm>
#include <cmath>

namespace tarcil {
namespace {

// What is told is whole points, so a value that stands still may be half a point off for ever.
constexpr double kOff = 0.75;

}  // namespace

std::optional<ServerPressure> Background::take(const MeasuredPressure& measured, MonotonicTime now) {
  smooth(measured, lastTaken_ ? now - *lastTaken_ : Duration::zero());
  lastTaken_ = now;
  ServerPressure current{told_.server, {}, {}};
  for (size_t i = 0; i < kResources; ++i) {
    if (smoothed_[i]) {
      current.background[i] = static_cast<uint8_t>(std::lround(*smoothed_[i]));
    } else {
      current.absent.push_back({static_cast<Resource>(i), measured[i].error().message});
    }
  }
  if (!isDue(current, now)) return std::nullopt;
  told_ = current;
  lastTold_ = now;
  offSince_.reset();
  return current;
}

void Background::smooth(const MeasuredPressure& measured, Duration since) {
  const double time = std::chrono::duration<double>(options_.smoothing).count();
  const double weight = time <= 0 ? 1 : 1 - std::exp(-std::chrono::duration<double>(since).count() / time);
  for (size_t i = 0; i < kResources; ++i) {
    if (!measured[i].ok()) {
      smoothed_[i].reset();
      continue;
    }
    const double value = std::clamp(*measured[i], 0.0, double{kMaxPressure});
    smoothed_[i] = smoothed_[i] ? *smoothed_[i] + weight * (value - *smoothed_[i]) : value;
  }
}

bool Background::isDue(const ServerPressure& current, MonotonicTime now) {
  if (!lastTold_) return true;
  double off = 0;
  for (size_t i = 0; i < kResources; ++i) {
    off = std::max(off, std::abs(smoothed_[i].value_or(0) - told_.background[i]));
  }
  if (current.background == told_.background || off < kOff) {
    offSince_.reset();
  } else if (!offSince_) {
    offSince_ = now;
  }
  const bool matters = off >= options_.threshold || current.absent != told_.absent ||
                       (offSince_ && now - *offSince_ >= options_.settling);
  return matters && now - *lastTold_ >= options_.leastInterval;
}

}  // namespace tarcil
