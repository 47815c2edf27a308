// Hashes of contention vectors that hyperplanes are compared with.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/model/resources.h"

namespace tarcil::bench {

// A vector's bucket, below the number of buckets that it was made for.
using Hash = std::function<uint32_t(const Pressure&)>;

// Whether each of some resources, chosen at random, presses more than in the mean: the paper's "random
// selection". As there are ten, at most ten bits; buckets folded as hyperplanes fold them.
Hash randomCoordinates(std::span<const Pressure> vectors, uint32_t buckets, uint64_t seed);

// Two projections on random directions, each cut into the square root of `buckets` equal parts of four
// deviations (p-stable hashing, Datar and others 2004); what lies beyond is in the outermost part.
Hash pStable(std::span<const Pressure> vectors, uint32_t buckets, uint64_t seed);

}  // namespace tarcil::bench
