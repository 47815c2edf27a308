// What sharing a resource costs in truth: for emulated servers and for the simulator's parametric truth.
// Pure.
//
// No formula of core/model or core/decide is in here: what schedulers expect and what happens are two things.
#pragma once

#include <algorithm>

namespace tarcil {

// Time that a task takes longer, as a part of the time that it takes alone, for one resource: where what
// others cause (`felt`) and what it needs itself exceed what there is by a part x of it,
// steepness * x * (1 + bend * x). Convex, unbounded. All three amounts are in the same unit.
inline double timeLost(double interference, double need, double capacity, double steepness, double bend) {
  const double lacking = std::max(0.0, (interference + need) / capacity - 1);
  return steepness * lacking * (1 + bend * lacking);
}

}  // namespace tarcil
