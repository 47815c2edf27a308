// The field `performance` of a job file.
#pragma once

#include <optional>

#include "core/model/performance.h"
#include "formats/yaml_reader.h"

namespace tarcil {

// {metric: instructions|reported|cpu, target: NUMBER, deviation: PERCENT, window: DURATION}. Problems are
// reported to the value's; what does not fit has its default.
std::optional<PerformanceGoal> performanceIn(const YamlValue& value);

}  // namespace tarcil
