// What a task writes to say how well it does: lines "VALUE" or "NAME VALUE". Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace tarcil {

inline constexpr size_t kMaxMetricBytes = 4096;  // of a datagram, or of the file

// The value of the last line that is not empty. A name is for the task's own use: one task has one metric.
// nullopt: there is none. kInvalid: "line N: <problem>"; nothing of the text is repeated, since it may be
// anything. Values are decimal numbers, not negative, without a unit: "1234.5", "1.2e9".
Result<std::optional<double>> metricIn(std::string_view text);

}  // namespace tarcil
