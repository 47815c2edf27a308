// How a simulated cluster stands at one moment.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/world.h"

namespace tarcil::sim {

inline constexpr size_t kQualitySteps = 10;

struct Moment {
  double seconds = 0;
  std::vector<uint64_t> heldByStream;  // units
  // Units of tasks that run at 0 to 10 % of the speed that they have alone on their best platform, 10 to 20 %
  // and so on. All zero where there is no ground truth.
  std::array<uint64_t, kQualitySteps> byQuality{};
};

// Residents are not counted. O(tasks that run).
Moment momentOf(const World& world, SimTime at);

}  // namespace tarcil::sim
