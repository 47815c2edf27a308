// What a group of resctrl may use of the last-level cache and of the memory bandwidth: the file `schemata`
// (Linux, arch/x86/resctrl.rst). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "monitor/logic/pressure/kernel_text.h"

namespace tarcil {

// What a processor can limit.
struct CacheControls {
  std::optional<uint64_t> leastWays;  // info/L3/min_cbm_bits; none: caches cannot be limited
  struct Bandwidth {
    uint64_t least = 0, step = 0;  // per cent; info/MB/min_bandwidth and bandwidth_gran
  };
  std::optional<Bandwidth> bandwidth;  // none: the memory bandwidth cannot be limited
};

// The schemata of a group that may use these shares, in (0, 1], of what the root group may: of the ways the
// lowest, at least as many as have to be, and of the bandwidth, which has to be in per cent, a step more
// rather than less. A share of 1 gives what the root has. Holds what can be limited and nothing else.
// kInvalid names the line that makes no sense; kUnavailable where a share below 1 is of what cannot be
// limited.
Result<std::string> limitedSchemata(const KernelFile& root, const CacheControls& controls, double ways,
                                    double bandwidth);

}  // namespace tarcil
