#include "latebinding/pool_charge.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace tarcil::late {
namespace {

// Within this of what is caused, in points, the smoothed value is what is caused.
constexpr double kSettled = 0.5;

}  // namespace

std::optional<PressureSum> PoolCharge::update(const PressureSum& caused, MonotonicTime now) {
  if (caused != caused_) {
    smooth(now);
    caused_ = caused;
    wake_ = std::min(wake_, now + options_.interval);
  }
  if (now < wake_) return std::nullopt;
  smooth(now);
  const bool isSettled = hasSettled();
  wake_ = isSettled ? MonotonicTime::max() : now + options_.interval;
  const PressureSum current = isSettled ? caused_ : rounded();
  if (isSettled ? current == told_ : isNear(current)) return std::nullopt;
  told_ = current;
  return told_;
}

void PoolCharge::smooth(MonotonicTime now) {
  using Seconds = std::chrono::duration<double>;
  const double share = -std::expm1(-(Seconds(now - smoothedAt_) / Seconds(options_.smoothing)));
  for (size_t i = 0; i < smoothed_.size(); ++i) smoothed_[i] += share * (caused_[i] - smoothed_[i]);
  smoothedAt_ = now;
}

bool PoolCharge::hasSettled() const {
  return std::equal(smoothed_.begin(), smoothed_.end(), caused_.begin(),
                    [](double smoothed, int32_t caused) { return std::abs(smoothed - caused) < kSettled; });
}

PressureSum PoolCharge::rounded() const {
  PressureSum sum{};
  std::transform(smoothed_.begin(), smoothed_.end(), sum.begin(),
                 [](double value) { return static_cast<int32_t>(std::lround(value)); });
  return sum;
}

// Whether it is told well enough as it is, while it moves.
bool PoolCharge::isNear(const PressureSum& current) const {
  return std::equal(current.begin(), current.end(), told_.begin(),
                    [this](int32_t now, int32_t told) { return std::abs(now - told) < options_.threshold; });
}

}  // namespace tarcil::late
