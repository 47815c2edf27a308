// Whether counts agree with what was to be expected of them.
#pragma once

#include <cmath>
#include <cstddef>

namespace tarcil {

// Sum over cells of (seen - expected)^2 / expected.
class ChiSquare {
 public:
  // Requires: expected > 0.
  void add(double seen, double expected) {
    sum_ += (seen - expected) * (seen - expected) / expected;
    ++cells_;
  }

  // Where the expectations are right and their sum is that of the counts, the sum exceeds the bound by chance
  // once in a million.
  double sum() const { return sum_; }
  double bound() const {
    // Wilson and Hilferty 1931; 4.753 is the quantile of the normal distribution.
    const double degrees = static_cast<double>(cells_) - 1;
    const double root = 1 - 2 / (9 * degrees) + 4.753 * std::sqrt(2 / (9 * degrees));
    return degrees * root * root * root;
  }

 private:
  double sum_ = 0;
  size_t cells_ = 0;
};

}  // namespace tarcil
