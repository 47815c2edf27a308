// The random generator of every decision: small, seedable, the same digits on every machine.
#pragma once

#include <cstdint>

namespace tarcil {

// xoshiro256** (Blackman, Vigna 2018), seeded through splitmix64. Not for secrets.
class Rng {
 public:
  using result_type = uint64_t;

  explicit Rng(uint64_t seed);

  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return UINT64_MAX; }

  uint64_t operator()();

  // Uniform in [0, bound), without modulo bias (Lemire 2019). Requires: bound > 0.
  uint64_t below(uint64_t bound);

  // Uniform in [0, 1).
  double unit();

 private:
  uint64_t state_[4];
};

}  // namespace tarcil
