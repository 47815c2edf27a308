// Tasks that perform below what their jobs expect, and what was done for them, as commands show them.
#pragma once

#include <string>
#include <vector>

#include "cli/output/render.h"
#include "core/model/performance.h"
#include "formats/json.h"

namespace tarcil {

Json jsonOf(const TaskViolation& violation);
Json jsonOf(const AdjustingStep& step);

// A line for each violation and one for each of its causes, indented; empty where there is none.
std::string textOf(const std::vector<TaskViolation>& violations, const Style& style);
// A line for each step.
std::string textOf(const std::vector<AdjustingStep>& steps, const Style& style);

}  // namespace tarcil
