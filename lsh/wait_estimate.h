// How long until a number of units has come free, by how they came free before (Tarcil section
// 4, "time-until-free").
#pragma once

#include <cstdint>
#include <span>

#include "core/base/time.h"

namespace tarcil {

struct WaitEstimate {
  enum class Basis : uint8_t {
    kHistory,        // the times below hold
    kTooYoung,       // fewer than kMinIntervals are closed: ask again later
    kTooFew,         // units came in fewer than kMinArrivals intervals, or left as fast as they came
    kBeyondHistory,  // at the rate of the past it takes longer than the history is: `mean` says how long
  };

  Basis basis = Basis::kTooYoung;
  Duration mean{};    // mu
  Duration sigma{};   // standard deviation
  Duration likely{};  // by then enough units have come with the probability asked for
  Duration bound{};   // mu + 2 sigma: waiting for longer than this was not to be expected
};

inline constexpr size_t kMinIntervals = 12;
inline constexpr size_t kMinArrivals = 8;

struct Awaited {
  double units = 1;  // that are still missing, above 0
  // Share of the units that come that are of use: of `units / useful` that have to come, chance says how
  // many. In (0, 1].
  double useful = 1;
};

// `came` are the units that came in successive intervals of the same length, the oldest first; below 0 where
// more moved away. What comes is taken to go on as it did.
//
// The mean and the deviation of the time until enough have come are taken from the history itself: from the
// starts of intervals, spread over all of it, is counted until enough have come; the history goes round in a
// circle. Within the interval that brings the last of them units lie by chance, in batches of the size that
// the differences of neighbouring intervals tell. So the figures are right for single arrivals, for gangs
// that end together, for bursts and for regular arrivals, without being told which (tests/lsh). Beyond an
// eighth of what the history brought it is extended, and how well a rate can be known from so many arrivals
// is added to the deviation. `likely` is the quantile of the gamma distribution of that mean and deviation.
//
// Pure. Some microseconds for 360 intervals. Requires: 0 < probability < 1.
WaitEstimate estimateWait(std::span<const int64_t> came, Duration interval, const Awaited& awaited,
                          double probability);

}  // namespace tarcil
