// The interference on a slot from everything else on its server (docs/design.md; Tarcil Eq. 3).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/model/resources.h"

namespace tarcil {

enum class ContentionModel : uint8_t {
  kSum,   // neighbours add up
  kMean,  // the paper's Eq. 3: the sum over the server's other resource units divided by their number
  // Each neighbour slows a task down by itself, and slowdowns add up (core/state/neighbours.h). Where there
  // is only one pressure for all of a server, it is the sum.
  kSlowdowns,
};
// What files and flags call them, in the order of the enumeration.
inline constexpr std::array<std::string_view, 3> kContentionModelNames = {"sum", "mean", "slowdowns"};

// share * pressure in 1/256, rounded half up; not clamped. For single pressures and for sums of them.
int32_t scaled(int32_t pressure, uint16_t share);

// The pressures as they arrive on a platform, rounded half up and clamped to [0, 99].
Pressure scaled(const Pressure& pressure, const Share& share);

// C: min(99, share * sum + background) per resource, in that order of operations.
// `sum` is the unclamped sum of caused pressures of the server's tasks other than the one judged. `rus` is
// the number of resource units of the server; only kMean uses it, and gives 0 from neighbours where rus is 1.
// Product and mean are rounded once, together. Requires: every sum >= 0, rus >= 1.
Pressure contention(ContentionModel model, const PressureSum& sum, const Share& share,
                    const Pressure& background, int rus);

}  // namespace tarcil
