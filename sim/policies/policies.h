// The policies by name, as a scenario sets them.
#pragma once

#include <memory>

#include "core/base/rng.h"
#include "sim/ground_truth/ground_truth.h"
#include "sim/policies/scheduler.h"
#include "sim/scenario.h"
#include "sim/world.h"

namespace tarcil::sim {

// World and belief outlive it. Null for the bound, which is no policy.
std::unique_ptr<Scheduler> schedulerOf(const Scenario& scenario, PolicyName policy, World& world,
                                       const Belief& belief, Rng rng);

}  // namespace tarcil::sim
