// How much of the pressure on a reference server arrives on a server of another platform (docs/design.md, the
// model), from the calibrations of both. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "core/model/resources.h"
#include "profiler/calibration.h"

namespace tarcil {

struct CalibratedServer {
  Calibration calibration;
  uint64_t memoryBytes = 0;  // that its tasks may have; 0: not known
};

struct MeasuredShare {
  std::optional<double> share;  // from 0 to kMaxShare; nullopt: cannot be told
  std::string because;          // for people
};

// 0 for what each core has to itself; else what the reference has of the resource by what the other one has:
// the work a second that all cores together do, and the bytes of last-level cache and memory. Not told: of
// caches of a core that hardware threads share, and of the network, since the kernel does not leave the
// machine.
std::array<MeasuredShare, kResources> sharesOf(const CalibratedServer& server,
                                               const CalibratedServer& reference);

}  // namespace tarcil
