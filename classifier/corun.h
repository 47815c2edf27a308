// How fast a program runs beside several others, from how fast it runs beside each of them alone.
#pragma once

#include <span>

namespace tarcil {

// What of the slowdowns but the worst adds to it. Below 1, since neighbours also hold each other
// back: together they press a little less than apart. Chosen on measured triples, where the optimum
// is flat (docs/accuracy.md).
inline constexpr double kOtherSlowdowns = 0.8;

// Performance relative to running alone, 1 without neighbours. With s = 1 / performance - 1 beside each
// neighbour alone: 1 / (1 + worst s + others * the sum of the other s), of which none counts as below 0. So
// the result is above 1 only where the program was measured faster beside every one of them. Requires:
// performances above 0 and finite; others in [0, 1].
double performanceBeside(std::span<const double> besideEach, double others = kOtherSlowdowns);

}  // namespace tarcil
