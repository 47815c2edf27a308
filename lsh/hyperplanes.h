// Locality sensitive hashing of contention vectors by random hyperplanes (Tarcil section 4):
// servers whose neighbours press alike fall into one bucket.
#pragma once

#include <array>
#include <cstdint>

#include "core/model/resources.h"

namespace tarcil {

// Where the planes are to meet, in 1/256 points of pressure: the mean of the vectors that are hashed. Raw
// pressures lie in one orthant, where planes through the origin cannot tell 10,10,... from 90,90,...
using Centre = std::array<int32_t, kResources>;

inline constexpr int32_t kCentreUnit = 256;

// Pure; the same buckets on every machine, since all sums are of integers.
class Hyperplanes {
 public:
  static constexpr uint32_t kMaxPlanes = 8;
  static constexpr uint32_t kMaxBuckets = 1 << kMaxPlanes;

  // As many planes as tell so many buckets apart, in random directions from the seed. Where the number is no
  // power of two, signatures that agree in all planes but the last share a bucket.
  // Requires: 1 <= buckets <= kMaxBuckets.
  Hyperplanes(uint32_t buckets, uint64_t seed);

  uint32_t buckets() const { return buckets_; }
  uint32_t planes() const { return planes_; }

  // How far each plane lies from the origin if all of them go through one centre.
  using Offsets = std::array<float, kMaxPlanes>;
  Offsets offsets(const Centre& centre) const;

  // In [0, buckets()). Some 20 ns.
  uint32_t bucketOf(const Pressure& contention, const Offsets& offsets) const;

 private:
  uint32_t buckets_;
  uint32_t planes_;
  // By resource and plane: whole numbers of mean 0 and deviation 1000, of at most 6000, so that any sum over
  // pressures is below 2^24 and exact.
  alignas(16) std::array<std::array<float, kMaxPlanes>, kResources> normals_{};
};

}  // namespace tarcil
