// Whether a scenario can be simulated.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario.h"

namespace tarcil::sim {

// Everything that is wrong with it, one sentence each: the field, its value and what to write instead.
std::vector<std::string> problems(const Scenario& scenario);

}  // namespace tarcil::sim
