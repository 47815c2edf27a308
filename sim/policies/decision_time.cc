#include "sim/policies/decision_time.h"

#include <algorithm>

namespace tarcil::sim {

Duration DecisionTime::of(uint64_t decisions, uint64_t slots) const {
  const auto looking = std::chrono::ceil<Duration>(perSlot * slots);
  const auto count = static_cast<int64_t>(decisions);
  return count * fixed + (bound ? std::min(looking, count * *bound) : looking);
}

}  // namespace tarcil::sim
