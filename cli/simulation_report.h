// What came of simulations, for people and for scripts.
#pragma once

#include <string>
#include <vector>

#include "cli/json.h"
#include "sim/scenario.h"

namespace tarcil {

// One run, with the keys that scripts rely on.
Json jsonOf(const sim::Scenario& scenario, const sim::Summary& run);

// What was simulated, and a line for each policy: means over its seeds.
std::string textOf(const sim::Scenario& scenario, const std::vector<sim::Summary>& runs);

}  // namespace tarcil
