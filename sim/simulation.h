// One run: a scenario under one policy, with one seed.
#pragma once

#include <cstdint>
#include <functional>

#include "sim/scenario.h"
#include "sim/summary.h"
#include "sim/world.h"

namespace tarcil::sim {

// The same arguments give the same result. Requires: no problems(scenario) (scenario_check.h).
Summary simulate(const Scenario& scenario, PolicyName policy, uint64_t seed,
                 const std::function<void(const Progress&)>& watch = nullptr);

// How the jobs of the recording really fared. Policy, seed and what a cluster does not tell are left as they
// are. Requires: scenario.replay.
Summary recordedSummary(const Scenario& scenario);

}  // namespace tarcil::sim
