// Random numbers of the distributions that workloads and ground truths are made of. The same digits on every
// machine whose logarithm and square root are those of IEEE 754.
#pragma once

#include "core/base/rng.h"

namespace tarcil::sim {

// Requires: mean > 0.
double exponential(double mean, Rng& rng);

// Of mean 0 and deviation 1.
double normal(Rng& rng);

// Uniform in [low, high).
double between(double low, double high, Rng& rng);

// Uniform in its logarithm, so that each factor of two is as likely. Requires: 0 < low <= high.
double logBetween(double low, double high, Rng& rng);

// Of this shape between the two: P[X > x] falls as x to the power of -shape. Requires: 0 < low < high, shape
// > 0.
double boundedPareto(double low, double high, double shape, Rng& rng);

// A generator of its own for each purpose, so that what one policy draws does not change another's workload.
enum class Purpose : uint64_t { kWorkload = 1, kTruth, kBelief, kPolicy, kResidents };
Rng rngFor(uint64_t seed, Purpose purpose);

}  // namespace tarcil::sim
