// How fast a task runs beside several others, neighbour by neighbour (docs/design.md, "Neighbour by
// neighbour"). Whole numbers throughout: whoever judges by them gets the same result bit for bit.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/model/resources.h"

namespace tarcil {

// By how much longer something takes than alone, in kSlowdownUnit: 1 / performance - 1.
using Slowdown = uint32_t;
inline constexpr Slowdown kSlowdownUnit = 1'024;  // it takes twice as long

// A task that bears no more than this of a resource loses a twentieth of its speed there
// (core/model/profile.h): what it loses begins so many points below.
inline constexpr int kBorneLoss = 5;

// Of the slowdowns but the worst so much is felt: neighbours hold each other back, too. From measured co-runs
// (docs/accuracy.md; classifier/corun.h says the same of performances).
inline constexpr uint32_t kOthersFelt = 4, kOthersFeltOf = 5;

// The pressure from which on a task with this entry of `tolerated` loses speed. One that tolerates all there
// can be loses none.
constexpr uint8_t onsetOf(uint8_t tolerated) {
  if (tolerated >= kMaxPressure) return kMaxPressure;
  return static_cast<uint8_t>(std::max(0, tolerated - kBorneLoss));
}
Pressure onsetsOf(const Pressure& tolerated);

// The slowdown of a task whose worst resource is so far beyond its onset: a point of pressure is a hundredth
// of its speed.
inline constexpr auto kSlowdowns = [] {
  std::array<Slowdown, kMaxPressure + 1> slowdowns{};
  for (uint32_t excess = 0; excess < kMaxPressure; ++excess) {
    const uint32_t left = kMaxPressure - excess;
    slowdowns[excess] = (kSlowdownUnit * excess + left / 2) / left;
  }
  // Nothing is left of its speed. What does stand still would never end, so it goes on at a hundredth.
  slowdowns[kMaxPressure] = kSlowdownUnit * kMaxPressure;
  return slowdowns;
}();
// Requires: excess <= 99.
constexpr Slowdown slowdownAt(uint8_t excess) {
  return kSlowdowns[excess];
}

// The slowdown by one neighbour alone, or by the background. `caused` as it arrives on the platform, clamped.
Slowdown slowdownBeside(const Pressure& caused, const Pressure& onsets);

// All that slows one task down. Order does not matter. Requires: at most kMaxServerRus of them.
struct Slowdowns {
  Slowdown worst = 0;
  Slowdown sum = 0;

  constexpr void add(Slowdown slowdown, uint32_t times = 1) {
    if (times == 0) return;
    worst = std::max(worst, slowdown);
    sum += times * slowdown;
  }

  // The worst and kOthersFelt of the others.
  constexpr Slowdown together() const { return worst + (sum - worst) / kOthersFeltOf * kOthersFelt; }

  bool operator==(const Slowdowns&) const = default;
};

// What a task loses whose neighbours slow it down so, and whose worst resource is so far beyond what it
// tolerates by all their pressures together: neighbour by neighbour, or by two thirds of that excess, the
// worse of the two. Neither sees all: many that are borne one by one may be too much together, and pressures
// that are felt do not add up. How much of the sum counts is a compromise between measured co-runs and a
// truth that adds pressures up (docs/evaluation.md, "The defaults of the policy").
constexpr Slowdown slowdownBy(const Slowdowns& each, uint8_t excessOfSum) {
  constexpr uint32_t kOfSum = 2, kOfSumOf = 3;
  const uint32_t excess = std::min<uint32_t>(excessOfSum, kMaxPressure);
  return std::max(each.together(), slowdownAt(static_cast<uint8_t>(excess * kOfSum / kOfSumOf)));
}

// With which so much is left, from 0.01 to 1, rounded down.
constexpr Slowdown slowdownLeaving(double satisfaction) {
  return static_cast<Slowdown>(kSlowdownUnit / satisfaction) - kSlowdownUnit;
}

// S in (0, 1]: performance relative to running alone.
constexpr double satisfaction(Slowdown slowdown) {
  return static_cast<double>(kSlowdownUnit) / (kSlowdownUnit + slowdown);
}

}  // namespace tarcil
