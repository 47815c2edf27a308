// What the formulas have in common, of a server's background and of a task's own pressure.
#pragma once

#include <algorithm>
#include <map>
#include <optional>

#include "core/model/resources.h"
#include "monitor/logic/pressure/counters.h"

namespace tarcil::formula {

inline constexpr double kMicrosPerTick = 10'000;
inline constexpr double kLineBytes = 64;
// Cycles that a core waits, typically, until the next level has answered: of caches and TLBs of server
// processors of the last ten years. What of it is hidden by other work is part of the model's error.
inline constexpr double kL1MissCycles = 14;
inline constexpr double kL2MissCycles = 50;
inline constexpr double kTlbMissCycles = 30;

// What a counter has grown by.
inline double grown(uint64_t before, uint64_t after) {
  return after > before ? static_cast<double>(after - before) : 0;
}
inline double grown(double before, double after) {
  return std::max(0.0, after - before);
}

// The same of a hardware counter that this processor may not have.
inline Result<double> counted(const HardwareCounts& before, const HardwareCounts& after,
                              std::optional<double> HardwareCounts::*counter) {
  if (!(before.*counter) || !(after.*counter)) return notFound("this processor does not count them");
  return grown(*(before.*counter), *(after.*counter));
}

inline double asPressure(double share) {
  return kMaxPressure * std::clamp(share, 0.0, 1.0);
}

inline Error noTime() {
  return Error{ErrorCode::kUnavailable, "no time has passed between two readings"};
}

// The first of these readings that is an error, if one is.
template <typename... Readings>
std::optional<Error> firstError(const Readings&... readings) {
  std::optional<Error> first;
  const auto look = [&first](const auto& reading) {
    if (!first && !reading.ok()) first = reading.error();
  };
  (look(readings), ...);
  return first;
}

inline TransferBytes bytesOn(const std::map<Device, TransferBytes>& disks, const Device& device) {
  const auto found = disks.find(device);
  return found == disks.end() ? TransferBytes{} : found->second;
}

}  // namespace tarcil::formula
