#include "bench/other_hashes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/base/rng.h"

namespace tarcil::bench {
namespace {

using Vector = std::array<double, kResources>;

double along(const Vector& direction, const Pressure& vector) {
  double sum = 0;
  for (size_t i = 0; i < kResources; ++i) sum += direction[i] * vector[i];
  return sum;
}

double aNormal(Rng& rng) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += rng.unit();
  return sum;
}

struct Projection {
  Vector direction{};
  double from = 0;   // where the first part begins
  double width = 1;  // of a part
  uint32_t parts = 1;

  uint32_t partOf(const Pressure& vector) const {
    const double part = std::floor((along(direction, vector) - from) / width);
    return static_cast<uint32_t>(std::clamp(part, 0.0, parts - 1.0));
  }
};

Projection project(std::span<const Pressure> vectors, uint32_t parts, Rng& rng) {
  Projection made;
  made.parts = parts;
  for (double& d : made.direction) d = aNormal(rng);
  double sum = 0, squares = 0;
  for (const Pressure& vector : vectors) {
    const double x = along(made.direction, vector);
    sum += x;
    squares += x * x;
  }
  const auto count = static_cast<double>(vectors.size());
  const double mean = sum / count;
  const double deviation = std::sqrt(std::max(1e-9, squares / count - mean * mean));
  made.width = 4 * deviation / parts;
  // Shifted at random by up to a part, or the mean would always lie on a border or in the middle.
  made.from = mean - 2 * deviation - made.width * (rng.unit() - 0.5);
  return made;
}

}  // namespace

Hash randomCoordinates(std::span<const Pressure> vectors, uint32_t buckets, uint64_t seed) {
  Rng rng(seed);
  std::array<size_t, kResources> resources{};
  std::iota(resources.begin(), resources.end(), size_t{0});
  std::shuffle(resources.begin(), resources.end(), rng);
  const auto bits = static_cast<size_t>(std::bit_width(buckets - 1));
  Vector mean{};
  for (const Pressure& vector : vectors) {
    for (size_t i = 0; i < kResources; ++i) mean[i] += vector[i] / static_cast<double>(vectors.size());
  }
  return [=](const Pressure& vector) {
    uint32_t signature = 0;
    for (size_t bit = 0; bit < bits; ++bit) {
      signature = signature << 1 | static_cast<uint32_t>(vector[resources[bit]] > mean[resources[bit]]);
    }
    return signature * buckets >> bits;
  };
}

Hash pStable(std::span<const Pressure> vectors, uint32_t buckets, uint64_t seed) {
  Rng rng(seed);
  const auto side = static_cast<uint32_t>(std::floor(std::sqrt(buckets)));
  const Projection first = project(vectors, side, rng), second = project(vectors, buckets / side, rng);
  return [=](const Pressure& vector) { return first.partOf(vector) * second.parts + second.partOf(vector); };
}

}  // namespace tarcil::bench
