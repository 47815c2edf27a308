// The actual speed of emulated tasks beside one another, which deliberately differs from what schedulers
// expect: see monitor/logic/overload.h. Pure.
#pragma once

#include <array>
#include <span>

#include "core/base/result.h"
#include "core/model/launch.h"

namespace tarcil {

// A task's actual behaviour. 1 is all that a server of the reference platform has.
struct TrueNature {
  std::array<double, kResources> pressure{};  // that it causes
  std::array<double, kResources> need{};      // of the resource, for itself
  double cores = 0;                           // that it can make use of; 0: as many as it has
};

// Of a task that is as its profile says.
TrueNature natureOf(const Pressure& caused, const Pressure& tolerated);

// As the task's profile says, unless its environment says otherwise: TARCIL_EMULATE_CAUSED and
// TARCIL_EMULATE_TOLERATED, in place of all that the profile says ("llc=60,memory_bandwidth=84"; what is not
// named causes 0 and tolerates 99), and TARCIL_EMULATE_CORES. So a job can be placed by one profile and
// behave by another. kInvalid: a variable that cannot be read, with what to write.
Result<TrueNature> natureOf(const LaunchSpec& spec);

// Speed relative to the task alone on the server with all cores that it can use; in (0, 1]. `interference`:
// the sum of what all others on the server cause. `share`: how much of a reference server's pressure arrives
// on this platform. `units`: the number that the task has.
double speedOf(const TrueNature& task, const std::array<double, kResources>& interference, const Share& share,
               size_t units);

}  // namespace tarcil
