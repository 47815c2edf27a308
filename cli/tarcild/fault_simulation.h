// tarcil sim --faults: many histories of clusters in which things break, to find what breaks a promise.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tarcil {

struct FaultSimulationRun {
  std::vector<uint64_t> seeds;        // a history of its own each
  uint64_t events = 0;                // about so long is a history
  uint32_t trace = 0;                 // events shown before one that broke a promise
  uint32_t masters = 0;               // on an etcd; 0: as the seed has it
  std::optional<uint32_t> seconds{};  // after which no history is begun any more
  bool json = false;
};

// As many histories at once as there are cores; prints what came of them. Ends with the first broken promise:
// says which, after what, and what to type to see it again. The exit code: kExitFailed then.
int simulateFaults(const FaultSimulationRun& wanted);

}  // namespace tarcil
