#include "core/model/slowdown.h"

namespace tarcil {
namespace {

constexpr auto kSlowdowns = [] {
  std::array<Slowdown, kMaxPressure + 1> slowdowns{};
  for (uint32_t excess = 0; excess < kMaxPressure; ++excess) {
    const uint32_t left = kMaxPressure - excess;
    slowdowns[excess] = (kSlowdownUnit * excess + left / 2) / left;
  }
  // Nothing is left of its speed. What does stand still would never end, so it goes on at a hundredth.
  slowdowns[kMaxPressure] = kSlowdownUnit * kMaxPressure;
  return slowdowns;
}();

}  // namespace

Pressure onsetsOf(const Pressure& tolerated) {
  Pressure onsets{};
  for (size_t i = 0; i < onsets.size(); ++i) onsets[i] = onsetOf(tolerated[i]);
  return onsets;
}

Slowdown slowdownAt(uint8_t excess) {
  return kSlowdowns[excess];
}

Slowdown slowdownBeside(const Pressure& caused, const Pressure& onsets) {
  int worst = 0;
  for (size_t i = 0; i < caused.size(); ++i) worst = std::max(worst, caused[i] - onsets[i]);
  return slowdownAt(static_cast<uint8_t>(worst));
}

}  // namespace tarcil
