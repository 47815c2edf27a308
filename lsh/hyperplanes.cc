#include "lsh/hyperplanes.h"

#include <bit>

#include "core/base/rng.h"

namespace tarcil {
namespace {

// Nearly normal (Irwin and Hall), of mean 0 and deviation 1000, in whole numbers.
int32_t aNormal(Rng& rng) {
  int32_t sum = -6000;
  for (int i = 0; i < 12; ++i) sum += static_cast<int32_t>(rng.below(1001));
  return sum;
}

}  // namespace

Hyperplanes::Hyperplanes(uint32_t buckets, uint64_t seed)
    : buckets_(buckets), planes_(static_cast<uint32_t>(std::bit_width(buckets - 1))) {
  Rng rng(seed);
  for (uint32_t plane = 0; plane < planes_; ++plane) {
    for (auto& normals : normals_) normals[plane] = static_cast<float>(aNormal(rng));
  }
}

Hyperplanes::Offsets Hyperplanes::offsets(const Centre& centre) const {
  Offsets offsets{};
  for (uint32_t plane = 0; plane < kMaxPlanes; ++plane) {
    int64_t sum = 0;
    for (size_t i = 0; i < kResources; ++i) sum += static_cast<int64_t>(normals_[i][plane]) * centre[i];
    offsets[plane] = static_cast<float>(sum >> std::countr_zero(unsigned{kCentreUnit}));
  }
  return offsets;
}

uint32_t Hyperplanes::bucketOf(const Pressure& contention, const Offsets& offsets) const {
  Offsets sums{};
  for (size_t i = 0; i < kResources; ++i) {
    const auto pressure = static_cast<float>(contention[i]);
    for (uint32_t plane = 0; plane < kMaxPlanes; ++plane) sums[plane] += pressure * normals_[i][plane];
  }
  // Planes that are not used have normals and offsets of 0, and so no bit. The first plane is the
  // highest bit.
  uint32_t signature = 0;
  for (uint32_t plane = 0; plane < kMaxPlanes; ++plane) {
    signature |= static_cast<uint32_t>(sums[plane] > offsets[plane]) << (kMaxPlanes - 1 - plane);
  }
  return signature * buckets_ >> kMaxPlanes;
}

}  // namespace tarcil
