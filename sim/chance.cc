#include "sim/chance.h"

#include <cmath>
#include <numbers>

namespace tarcil::sim {

double exponential(double mean, Rng& rng) {
  return -mean * std::log1p(-rng.unit());
}

double normal(Rng& rng) {
  const double radius = std::sqrt(-2 * std::log1p(-rng.unit()));
  return radius * std::cos(2 * std::numbers::pi * rng.unit());
}

double between(double low, double high, Rng& rng) {
  return low + (high - low) * rng.unit();
}

double logBetween(double low, double high, Rng& rng) {
  return low * std::exp(rng.unit() * std::log(high / low));
}

double boundedPareto(double low, double high, double shape, Rng& rng) {
  const double cut = 1 - std::pow(low / high, shape);
  return low / std::pow(1 - rng.unit() * cut, 1 / shape);
}

Rng rngFor(uint64_t seed, Purpose purpose) {
  Rng mixed(seed);
  uint64_t own = 0;
  for (uint64_t i = 0; i < static_cast<uint64_t>(purpose); ++i) own = mixed();
  return Rng(own);
}

}  // namespace tarcil::sim
