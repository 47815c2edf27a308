// Which servers a job's constraints leave (design 3.7).
#pragma once

#include <vector>

#include "core/model/job.h"
#include "core/state/server.h"

namespace tarcil {

// Whether the server meets all of the constraints; the same as meets() with constraintAttributes(facts), but
// without forming attributes that nobody asks for.
bool suits(const ServerFacts& facts, const std::vector<Constraint>& constraints);

}  // namespace tarcil
