// Which servers to reserve for a job that needs several units at once, and when it could start there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/time.h"
#include "core/state/server.h"

namespace tarcil::master {

// Units of a server that come free at this time at the latest; kNever where that is not known.
struct UnitsEnd {
  WallTime when = kNever;
  uint32_t units = 0;
};

// A server that the job could use.
struct Prospect {
  ServerId server = 0;
  uint32_t free = 0;  // units
  std::vector<UnitsEnd> ends;
};

struct ReservedServers {
  std::vector<ServerId> servers;  // ascending
  // When the first `wanted` slots are free at the latest; kNever where that is not known.
  WallTime start = kNever;
};

// The servers that provide `atMost` slots of `rusPerTask` units soonest; of those for which that is not
// known, the ones with the fewest units to wait for. All of them where they provide fewer. `start` is for the
// first `wanted` of the slots. Requires: wanted <= atMost. O(ends * log ends).
ReservedServers chooseReserved(std::span<Prospect> prospects, uint32_t rusPerTask, uint64_t wanted,
                               uint64_t atMost);

}  // namespace tarcil::master
