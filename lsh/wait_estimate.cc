#include "lsh/wait_estimate.h"

#include <algorithm>
#include <cmath>

#include "lsh/gamma.h"

namespace tarcil {
namespace {

// Times in intervals.
struct Moments {
  double mean = 0;
  double variance = 0;
};

// Of the history no more than this part is passed at once, so that it holds several passages.
constexpr double kPart = 1.0 / 8;
// Starts within the time of one passage; more of them say hardly anything new.
constexpr double kStartsPerPassage = 4;

struct History {
  std::span<const int64_t> came;
  double total = 0;
  double rate = 0;   // units in an interval
  double batch = 1;  // units that come together, at least 1
  size_t arrivals = 0;
};

History historyOf(std::span<const int64_t> came) {
  History history{.came = came};
  double steps = 0;
  for (size_t i = 0; i < came.size(); ++i) {
    const auto units = static_cast<double>(came[i]);
    history.total += units;
    history.arrivals += came[i] > 0 ? 1 : 0;
    const double step = units - static_cast<double>(came[i == 0 ? came.size() - 1 : i - 1]);
    steps += step * step;
  }
  history.rate = history.total / static_cast<double>(came.size());
  // Slow changes of the rate are in the variance but hardly in the differences of neighbours. For batches of
  // one size both are that size times the mean.
  if (history.total > 0) history.batch = std::max(1.0, steps / (2 * history.total));
  return history;
}

// Where in its interval the unit comes that is the `wanted`th of `units`, from 0 to 1: batches are
// spread uniformly.
Moments positionIn(double units, double wanted, double batch) {
  // By conversion, since rounding is a call where the processor is not known to do it.
  constexpr double kHalf = 0.5;
  const auto batches = std::max<int64_t>(1, static_cast<int64_t>(units / batch + kHalf));
  const double before = wanted * static_cast<double>(batches) / units;
  const int64_t whole = static_cast<int64_t>(before);
  const int64_t number =
      std::clamp<int64_t>(whole + (static_cast<double>(whole) < before ? 1 : 0), 1, batches);
  const double mean = static_cast<double>(number) / static_cast<double>(batches + 1);
  return {mean, mean * (1 - mean) / static_cast<double>(batches + 2)};
}

// From the start of interval `start` until `units` have come. Requires: history.total > 0.
Moments passage(const History& history, size_t start, double units) {
  double missing = units;
  for (size_t passed = 0, at = start;; ++passed) {
    const auto came = static_cast<double>(history.came[at]);
    if (came >= missing) {
      const Moments within = positionIn(came, missing, history.batch);
      return {static_cast<double>(passed) + within.mean, within.variance};
    }
    missing -= came;
    if (++at == history.came.size()) at = 0;
  }
}

// Requires: history.total > 0.
Moments passages(const History& history, double units) {
  const double time = units / history.rate;
  const auto stride = static_cast<size_t>(std::max(1.0, time / kStartsPerPassage));
  double count = 0, sum = 0, squares = 0, within = 0;
  const size_t intervals = history.came.size();
  for (size_t k = 0; k * stride < intervals; ++k) {
    // Where not every interval is a start, they are spread by the golden ratio: at equal distances they could
    // keep step with what comes regularly.
    const size_t spread = (k * 0x9e3779b9U & UINT32_MAX) * intervals >> 32;
    const Moments one = passage(history, stride == 1 ? k : spread, units);
    ++count;
    sum += one.mean;
    squares += one.mean * one.mean;
    within += one.variance;
  }
  const double mean = sum / count;
  return {mean, std::max(0.0, squares / count - mean * mean) + within / count};
}

// Longer than this is as good as never, and can still be added to a time.
constexpr Duration kMax = std::chrono::hours(24 * 365 * 1'000);

Duration timesOf(Duration interval, double times) {
  const double exact = static_cast<double>(interval.count()) * times;
  if (exact >= static_cast<double>(kMax.count())) return kMax;
  return Duration(static_cast<Duration::rep>(std::llround(exact)));
}

}  // namespace

WaitEstimate estimateWait(std::span<const int64_t> came, Duration interval, const Awaited& awaited,
                          double probability) {
  using Basis = WaitEstimate::Basis;
  if (came.size() < kMinIntervals) return {.basis = Basis::kTooYoung};
  const History history = historyOf(came);
  if (history.total <= 0 || history.arrivals < kMinArrivals) return {.basis = Basis::kTooFew};
  const double units = awaited.units / awaited.useful;
  const double time = units / history.rate;
  if (time > static_cast<double>(came.size())) {
    return {.basis = Basis::kBeyondHistory, .mean = timesOf(interval, time)};
  }
  const double seen = std::min(units, std::max(1.0, history.total * kPart));
  Moments moments = passages(history, seen);
  moments.mean += (units - seen) / history.rate;
  moments.variance *= units / seen;
  // The rate itself is known as well as so long a wait tells it.
  moments.variance *= 1 + units / history.total;
  // How many have to come until enough of them are of use varies as successes do.
  moments.variance += units * (1 - awaited.useful) / awaited.useful / (history.rate * history.rate);
  const double scale = moments.variance / moments.mean;
  const double likely = scale * gammaQuantile(moments.mean / scale, probability);
  const double sigma = std::sqrt(moments.variance);
  return {Basis::kHistory, timesOf(interval, moments.mean), timesOf(interval, sigma),
          timesOf(interval, likely), timesOf(interval, moments.mean + 2 * sigma)};
}

}  // namespace tarcil
