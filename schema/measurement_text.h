// What a profiler prints for the cluster to store: a wire::Measurement as JSON, one line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/model/launch.h"

namespace tarcil {

// No more is read of what a profiler printed; a measurement has some hundred bytes.
inline constexpr size_t kMaxMeasurementBytes = 16 << 10;

// {"profile":{"application":"sort","caused":[50,0,...],"tolerated":[...],...}}, or {"problem":"..."}, whose
// control characters, but for tabs and ends of lines, become spaces.
std::string textOf(const Measurement& measurement);

// Invalid for anything else, also for pressures that are none, control characters, and text beyond
// kMaxMeasurementBytes: the text comes from a command that nobody trusts.
Result<Measurement> parseMeasurement(std::string_view text);

}  // namespace tarcil
