#include "classifier/tolerance_search.h"

#include <algorithm>
#include <cmath>

namespace tarcil {

bool wasHeldBack(const Tolerance& tolerance, double possible) {
  return tolerance.bearsAll() && tolerance.strongest < 0.7 * possible;
}

std::optional<int> ToleranceSearch::next() const {
  if (probes_ == 0) return kMaxPressure;
  if (!tooMuch_ || probes_ >= options_.probes) return std::nullopt;
  if (probes_ == 1) return kMaxPressure;
  const int low = borne_.pressure, high = tooMuch_->pressure;
  if (high - low <= options_.precision) return std::nullopt;
  // Not too near to either end: else noise would keep one end where it is. Every second time in the middle.
  const double at = probes_ % 2 == 1 ? (low + high) / 2.0 : crossing();
  const int step = std::max(1, (high - low) / 10);
  return std::clamp(static_cast<int>(std::lround(at)), low + step, high - step);
}

void ToleranceSearch::saw(int intensity, int reached, double performance) {
  ++probes_;
  Seen seen = {std::clamp(reached, 0, intensity), performance};
  if (probes_ == 2 && intensity == kMaxPressure && tooMuch_) {
    // Full pressure once more: the better of the two counts.
    seen = {std::min(seen.pressure, tooMuch_->pressure), std::max(performance, tooMuch_->performance)};
    tooMuch_.reset();
    strongest_.reset();
  }
  if (!strongest_ || seen.pressure > strongest_->pressure) strongest_ = seen;
  if (seen.performance >= options_.target) {
    if (seen.pressure >= borne_.pressure) borne_ = seen;
    // Borne now what was too much before: one of the two was noise, and a neighbour is to be spared.
    if (tooMuch_ && tooMuch_->pressure <= borne_.pressure) borne_ = {};
  } else if (!tooMuch_ || seen.pressure < tooMuch_->pressure) {
    tooMuch_ = seen;
    if (borne_.pressure >= seen.pressure) borne_ = {};
  }
}

double ToleranceSearch::crossing() const {
  const double fall = borne_.performance - tooMuch_->performance;
  const double share = fall > 0 ? (borne_.performance - options_.target) / fall : 0.5;
  return borne_.pressure + std::clamp(share, 0.0, 1.0) * (tooMuch_->pressure - borne_.pressure);
}

Tolerance ToleranceSearch::result() const {
  Tolerance result;
  if (strongest_) {
    result.strongest = strongest_->pressure;
    result.performance = strongest_->performance;
  }
  if (!tooMuch_) {
    result.borne = result.tolerated = probes_ > 0 ? kMaxPressure : 0;
    return result;
  }
  result.borne = borne_.pressure;
  result.tooMuch = tooMuch_->pressure;
  result.tolerated = std::clamp(static_cast<int>(std::floor(crossing())), 0, kMaxPressure - 1);
  return result;
}

}  // namespace tarcil
