#include "classifier/corun.h"

#include <algorithm>
#include <limits>

namespace tarcil {

double performanceBeside(std::span<const double> besideEach, double others) {
  if (besideEach.empty()) return 1;
  double worst = -std::numeric_limits<double>::infinity(), sum = 0;
  for (double performance : besideEach) {
    const double slowdown = 1 / performance - 1;
    worst = std::max(worst, slowdown);
    sum += std::max(0.0, slowdown);
  }
  return 1 / (1 + worst + others * (sum - std::max(0.0, worst)));
}

}  // namespace tarcil
