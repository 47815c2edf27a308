// What sharing a resource costs in truth: for emulated servers and for the simulator's parametric
// truth. Pure.
//
// No formula of core/model or core/decide is in here: what schedulers expect and what happens are two things.
#pragma once

#include <algorithm>

namespace tarcil {

// The slowdown due to one resource, as a fraction of the time that the task takes alone: where the
// interference from others plus the task's own need exceed the capacity by a fraction x of it, steepness * x
// * (1 + bend * x). Convex, unbounded. All three amounts are in the same unit.
inline double timeLost(double interference, double need, double capacity, double steepness, double bend) {
  const double lacking = std::max(0.0, (interference + need) / capacity - 1);
  return steepness * lacking * (1 + bend * lacking);
}

}  // namespace tarcil
