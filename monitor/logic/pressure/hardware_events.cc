#include "monitor/logic/pressure/hardware_events.h"

namespace tarcil {
namespace {

// Of <linux/perf_event.h>, which pure code does not include; perf_source.cc checks them against it.
constexpr uint32_t kHardware = 0, kCache = 3;
constexpr uint64_t kCycles = 0, kInstructions = 1, kCacheReferences = 2, kCacheMisses = 3;
constexpr uint64_t kL1d = 0, kL1i = 1, kLastLevel = 2, kDtlb = 3, kItlb = 4;
constexpr uint64_t kAccess = 0, kMiss = 1;

constexpr HardwareEvent read(uint64_t cache, uint64_t result) {
  return {kCache, cache | result << 16};
}

}  // namespace

const std::vector<EventChoice>& hardwareEvents() {
  static const std::vector<EventChoice> choices = {
      {&HardwareCounts::cycles, {{kHardware, kCycles}}},
      {&HardwareCounts::instructions, {{kHardware, kInstructions}}},
      {&HardwareCounts::l1iMisses, {read(kL1i, kMiss)}},
      {&HardwareCounts::l1dMisses, {read(kL1d, kMiss)}},
      {&HardwareCounts::l2Misses, {{kHardware, kCacheReferences}, read(kLastLevel, kAccess)}},
      {&HardwareCounts::llcMisses, {{kHardware, kCacheMisses}, read(kLastLevel, kMiss)}},
      {&HardwareCounts::tlbMisses, {read(kDtlb, kMiss)}},
      {&HardwareCounts::tlbMisses, {read(kItlb, kMiss)}},
  };
  return choices;
}

void ScaledCount::take(const RawCount& raw) {
  if (raw.running < last_.running || raw.enabled < last_.enabled || raw.value < last_.value) {
    last_ = raw;  // it began anew
    return;
  }
  const uint64_t running = raw.running - last_.running;
  if (running == 0) return;
  const uint64_t enabled = raw.enabled - last_.enabled;
  total_ += static_cast<double>(raw.value - last_.value) * static_cast<double>(enabled) /
            static_cast<double>(running);
  last_ = raw;
}

}  // namespace tarcil
