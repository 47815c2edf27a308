// What a scenario is made into for one run: its servers, its jobs, and the truth about them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/rng.h"
#include "sim/ground_truth/ground_truth.h"
#include "sim/scenario.h"
#include "sim/workload/workload.h"
#include "sim/world.h"

namespace tarcil::sim {

// The truth of a run and what is believed of it.
struct Truth {
  std::unique_ptr<GroundTruth> truth;  // null: no interference
  Belief belief;

  uint16_t applications() const { return truth ? truth->applications() : uint16_t{1}; }
};
Truth truthOf(const Scenario& scenario, uint64_t seed);

Workload workloadOf(const Scenario& scenario, uint16_t applications, Rng rng);

// With their residents, for whom alone chance is needed.
std::vector<SimServer> serversOf(const Scenario& scenario, uint16_t applications, Rng rng);

}  // namespace tarcil::sim
