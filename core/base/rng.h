// The random generator of every decision: small, seedable, the same digits on every machine.
#pragma once

#include <bit>
#include <cstdint>

namespace tarcil {

// Every bit of the result depends on every bit of the number, and no two numbers have the same: the finalizer
// of splitmix64 (Steele et al., OOPSLA 2014).
constexpr uint64_t mixed(uint64_t number) {
  number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9;
  number = (number ^ number >> 27) * 0x94d049bb133111eb;
  return number ^ number >> 31;
}

// xoshiro256** (Blackman, Vigna 2018), seeded through splitmix64. Not for secrets.
class Rng {
 public:
  using result_type = uint64_t;

  explicit Rng(uint64_t seed);

  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return UINT64_MAX; }

  uint64_t operator()() {
    const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // Uniform in [0, bound), without modulo bias (Lemire 2019). Requires: bound > 0.
  uint64_t below(uint64_t bound) {
    // __extension__: 128-bit integers are a compiler extension, which both supported compilers have.
    __extension__ using Wide = unsigned __int128;
    Wide product = static_cast<Wide>((*this)()) * bound;
    if (static_cast<uint64_t>(product) < bound) {
      const uint64_t threshold = -bound % bound;
      while (static_cast<uint64_t>(product) < threshold) product = static_cast<Wide>((*this)()) * bound;
    }
    return static_cast<uint64_t>(product >> 64);
  }

  // Uniform in [0, 1).
  double unit();

 private:
  uint64_t state_[4];
};

}  // namespace tarcil
