// What kernels' dials mean on this machine, as a file: one for each platform, as
// JSON (docs/classification.md).
#pragma once

#include <string>

#include "core/base/result.h"
#include "formats/json.h"
#include "profiler/calibration.h"

namespace tarcil {

// <data folder>/calibration/<platform>.json.
std::string calibrationPath(const std::string& dataFolder, const std::string& platform);

Json jsonOf(const Calibration& calibration);

// Invalid, with `name` and what to do, where the text is no calibration.
Result<Calibration> parseCalibration(const std::string& text, const std::string& name);

// NotFound where there is no such file; Invalid, with the path and what to do, where it does not fit.
Result<Calibration> readCalibration(const std::string& path);

// Replaces the file in one step, and makes the folders above it.
Status writeCalibration(const std::string& path, const Calibration& calibration);

}  // namespace tarcil
