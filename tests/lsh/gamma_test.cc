#include "lsh/gamma.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tarcil::gamma_test {

// A chi-square variable of n degrees of freedom is twice a gamma variable of shape n / 2; values of the
// printed tables.
TEST(GammaQuantile, IsThatOfTheTablesOfChiSquare) {
  const struct {
    double freedom, probability, value;
  } kTable[] = {{1, 0.95, 3.841},   {2, 0.95, 5.991},   {3, 0.95, 7.815},     {10, 0.95, 18.307},
                {10, 0.05, 3.940},  {2, 0.5, 1.386},    {1, 0.5, 0.455},      {100, 0.95, 124.342},
                {30, 0.999, 59.70}, {100, 0.01, 70.06}, {1000, 0.95, 1074.68}};
  for (const auto& row : kTable) {
    EXPECT_NEAR(2 * gammaQuantile(row.freedom / 2, row.probability), row.value, 0.01 * row.value)
        << row.freedom << " at " << row.probability;
  }
}

TEST(GammaQuantile, OfTheExponentialIsItsLogarithm) {
  for (double probability : {0.01, 0.1, 0.5, 0.9, 0.95, 0.99, 0.999}) {
    const double exact = -std::log1p(-probability);
    EXPECT_NEAR(gammaQuantile(1, probability), exact, 0.01 * exact) << probability;
  }
}

TEST(GammaQuantile, HoldsForShapesBelowOne) {
  // The integral of the density up to it, by the midpoints of equal steps in x^shape, where it is smooth.
  for (double shape : {0.1, 0.3, 0.7, 0.99}) {
    for (double probability : {0.5, 0.95, 0.99}) {
      const double x = gammaQuantile(shape, probability);
      constexpr int kSteps = 200'000;
      double sum = 0;
      for (int i = 0; i < kSteps; ++i) {
        const double u = (i + 0.5) / kSteps * std::pow(x, shape);
        sum += std::exp(-std::pow(u, 1 / shape));
      }
      const double below = sum / kSteps * std::pow(x, shape) / std::tgamma(shape + 1);
      EXPECT_NEAR(below, probability, 0.001) << shape << " at " << probability;
    }
  }
}

}  // namespace tarcil::gamma_test
