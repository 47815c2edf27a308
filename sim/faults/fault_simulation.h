// Looks for faults of master, agents and monitors: jobs of all kinds on a random cluster, in which things
// break all the time; what is promised is checked as it runs, and again each time all is whole.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/faults/fault_injector.h"

namespace tarcil::sim {

struct FaultSimulationOptions {
  uint64_t seed = 1;
  uint64_t events = 50'000;  // about so long is the history
  Log log = Log::kNone;
  uint32_t mastersOnEtcd = 0;        // 0: as the seed has it
  EtcdBug etcdBug = EtcdBug::kNone;  // that is planted
};

struct FaultSimulationResult {
  uint64_t seed = 0;
  uint64_t events = 0;
  uint64_t jobs = 0;
  uint64_t tasksStarted = 0;
  Duration virtualTime{};
  std::array<uint64_t, kFaults> faults{};
  // The promises that were broken, in that order; empty where none was. The history ends with the first.
  std::vector<std::string> violations;
  std::vector<std::string> log;  // where it was kept

  uint64_t faultsInAll() const;
};

// One history, to its end or to the first violation. Follows from the options alone: the log changes nothing.
// `watch`, where given, is told now and then of how many events there were since it was told last.
FaultSimulationResult simulation(const FaultSimulationOptions& options,
                                 const std::function<void(uint64_t)>& watch = nullptr);

}  // namespace tarcil::sim
