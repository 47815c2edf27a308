#include "core/base/rng.h"

namespace tarcil {

Rng::Rng(uint64_t seed) {
  for (uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15;
    word = mixed(seed);
  }
}

double Rng::unit() {
  return static_cast<double>((*this)() >> 11) * 0x1.0p-53;
}

}  // namespace tarcil
