#include "core/model/slowdown.h"

namespace tarcil {

Pressure onsetsOf(const Pressure& tolerated) {
  Pressure onsets{};
  for (size_t i = 0; i < onsets.size(); ++i) onsets[i] = onsetOf(tolerated[i]);
  return onsets;
}

Slowdown slowdownBeside(const Pressure& caused, const Pressure& onsets) {
  int worst = 0;
  for (size_t i = 0; i < caused.size(); ++i) worst = std::max(worst, caused[i] - onsets[i]);
  return slowdownAt(static_cast<uint8_t>(worst));
}

}  // namespace tarcil
