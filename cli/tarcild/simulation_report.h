// What came of simulations, for people and for scripts.
#pragma once

#include <string>
#include <vector>

#include "formats/json.h"
#include "sim/summary.h"

namespace tarcil {

// One run, with the keys that scripts rely on.
Json jsonOf(const sim::Scenario& scenario, const sim::Summary& run);

// The same of what really happened: the policy is "recorded". Requires: a replay.
Json jsonOfRecorded(const sim::Scenario& scenario);

// What was simulated, and a line for each policy: means over its seeds, and how far these lie apart. Of a
// replay also a line of what really happened.
std::string textOf(const sim::Scenario& scenario, const std::vector<sim::Summary>& runs);

}  // namespace tarcil
