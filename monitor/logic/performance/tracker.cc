#include "monitor/logic/performance/tracker.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tarcil {
namespace {

constexpr size_t kPieces = 60;     // of history
constexpr size_t kMinPieces = 3;   // to expect anything
constexpr size_t kMinSamples = 2;  // in a window, to say anything of it
constexpr size_t kMaxSamples = 4096;

// Requires: not empty.
double medianOf(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The larger half of them, the middle one among it.
std::vector<double> betterHalf(const std::deque<double>& values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  sorted.resize((sorted.size() + 1) / 2);
  return sorted;
}

}  // namespace

PerformanceTracker::Change PerformanceTracker::take(double value, MonotonicTime now) {
  if (!std::isfinite(value) || value < 0) return Change::kNone;
  if (!begin_) begin_ = pieceBegin_ = now;
  remember(value, now);
  const auto expects = expected();
  const double low = expects.value_or(0) * (1 - goal_.deviation);
  const double high = expects.value_or(0) * (1 - goal_.deviation / 2);
  low_ = expects && value < low ? low_ + 1 : 0;
  learn(now);
  // Only where samples of a whole window can be here, of a task that has started up.
  const Duration before = goal_.target > 0 ? goal_.window : 2 * goal_.window;
  if (!expects || now - *begin_ < before || window_.size() < kMinSamples) return Change::kNone;

  const auto count = [this](auto holds) {
    return 4 * static_cast<size_t>(std::count_if(window_.begin(), window_.end(), holds)) >=
           3 * window_.size();
  };
  if (!degraded_ && count([low](const Sample& sample) { return sample.value < low; })) {
    degraded_ = isPieceSuspicious_ = true;
    since_ = std::find_if(window_.begin(), window_.end(), [low](const Sample& sample) {
               return sample.value < low;
             })->when;
    return Change::kBegan;
  }
  if (degraded_ && count([high](const Sample& sample) { return sample.value >= high; })) {
    degraded_ = false;
    return Change::kOver;
  }
  return Change::kNone;
}

void PerformanceTracker::remember(double value, MonotonicTime now) {
  window_.push_back({now, value});
  piece_.push_back(value);
  // A window holds the samples of (now - window, now].
  while (window_.size() > 1 && (window_.front().when <= now - goal_.window || window_.size() > kMaxSamples)) {
    window_.pop_front();
  }
  if (piece_.size() > kMaxSamples) piece_.pop_front();
}

void PerformanceTracker::learn(MonotonicTime now) {
  isPieceSuspicious_ |= suspicious();
  if (now - pieceBegin_ < goal_.window) return;
  // A piece that no sample came in for a long time says little of a window.
  const bool counts = pieces_ > 0 && !isPieceSuspicious_ && piece_.size() >= kMinSamples;
  if (counts) history_.push_back(medianOf({piece_.begin(), piece_.end()}));
  if (history_.size() > kPieces) history_.pop_front();
  ++pieces_;
  piece_.clear();
  pieceBegin_ = now;
  isPieceSuspicious_ = suspicious();
}

std::optional<double> PerformanceTracker::expected() const {
  if (goal_.target > 0) return goal_.target;
  const auto own = usual();
  if (!own && earlier_ <= 0) return std::nullopt;
  return std::max(own.value_or(0), earlier_);
}

std::optional<double> PerformanceTracker::usual() const {
  if (history_.size() < kMinPieces) return std::nullopt;
  return medianOf(betterHalf(history_));
}

double PerformanceTracker::measured() const {
  std::vector<double> values;
  values.reserve(window_.size());
  for (const Sample& sample : window_) values.push_back(sample.value);
  return medianOf(std::move(values));
}

}  // namespace tarcil
