#include "core/base/rng.h"

namespace tarcil {

Rng::Rng(uint64_t seed) {
  for (uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15;
    uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    word = z ^ (z >> 31);
  }
}

double Rng::unit() {
  return static_cast<double>((*this)() >> 11) * 0x1.0p-53;
}

}  // namespace tarcil
