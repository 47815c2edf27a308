#include "core/model/contention.h"

#include <algorithm>

namespace tarcil {
namespace {

uint8_t clamped(int64_t pressure) {
  return static_cast<uint8_t>(std::min<int64_t>(pressure, kMaxPressure));
}

// numerator / divisor, rounded half up. Requires: numerator >= 0, an even divisor > 0.
int64_t roundedQuotient(int64_t numerator, int64_t divisor) {
  return (numerator + divisor / 2) / divisor;
}

}  // namespace

int32_t scaled(int32_t pressure, uint16_t share) {
  // The shift rounds down for either sign, so adding one half rounds half up.
  return static_cast<int32_t>((int64_t{pressure} * share + kShareUnit / 2) >> 8);
}

Pressure scaled(const Pressure& pressure, const Share& share) {
  Pressure arriving{};
  for (size_t i = 0; i < arriving.size(); ++i) arriving[i] = clamped(scaled(int32_t{pressure[i]}, share[i]));
  return arriving;
}

Pressure contention(ContentionModel model, const PressureSum& sum, const Share& share,
                    const Pressure& background, int rus) {
  Pressure interference{};
  if (model != ContentionModel::kMean) {
    for (size_t i = 0; i < interference.size(); ++i)
      interference[i] = clamped(scaled(sum[i], share[i]) + background[i]);
    return interference;
  }
  if (rus <= 1) return background;
  const int64_t divisor = int64_t{kShareUnit} * (rus - 1);
  for (size_t i = 0; i < interference.size(); ++i) {
    interference[i] = clamped(roundedQuotient(int64_t{sum[i]} * share[i], divisor) + background[i]);
  }
  return interference;
}

}  // namespace tarcil
