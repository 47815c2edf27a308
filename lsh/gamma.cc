#include "lsh/gamma.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tarcil {
namespace {

// Of the standard normal distribution (Abramowitz and Stegun 26.2.23): within 0.0005.
double normalQuantile(double probability) {
  const double tail = std::min(probability, 1 - probability);
  const double t = std::sqrt(-2 * std::log(tail));
  const double z =
      t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  return probability < 0.5 ? -z : z;
}

// ln(shape!): Stirling's series further up, stepped down. std::lgamma writes to a global.
double logFactorial(double shape) {
  double high = shape + 1, steps = 1;
  for (; high < 9; ++high) steps *= high;
  const double halfLogTwoPi = 0.918938533204673;
  return (high - 0.5) * std::log(high) - high + halfLogTwoPi + 1 / (12 * high) - std::log(steps);
}

// P[X <= x] by its power series, and x times the density.
struct CurvePoint {
  double below, slope;
};
CurvePoint at(double x, double shape, double logFactorial) {
  double term = 1, sum = 1;
  for (double n = 1; term > 1e-9 * sum; ++n) {
    term *= x / (shape + n);
    sum += term;
  }
  const double first = std::exp(shape * std::log(x) - x - logFactorial);
  return {sum * first, shape * first};
}

}  // namespace

double gammaQuantile(double shape, double probability) {
  // Wilson and Hilferty: the cube root is nearly normal. For a large shape this does.
  const double root = 1 - 1 / (9 * shape) + normalQuantile(probability) / (3 * std::sqrt(shape));
  double x = shape * root * root * root;
  if (shape >= 30) return x;
  const double logOfFactorial = logFactorial(shape);
  double low = 0, high = std::numeric_limits<double>::infinity();
  if (x <= 0) x = shape / 2;
  for (int i = 0; i < 40; ++i) {
    const CurvePoint here = at(x, shape, logOfFactorial);
    (here.below < probability ? low : high) = x;
    // Newton's step, or half the way where it leaves what is known.
    double next = x - (here.below - probability) / here.slope * x;
    if (!(next > low && next < high)) next = std::isinf(high) ? 2 * x : (low + high) / 2;
    if (std::abs(next - x) < 1e-4 * x) return next;
    x = next;
  }
  return x;
}

}  // namespace tarcil
