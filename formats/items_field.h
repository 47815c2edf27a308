// The input list of an array in a job file: written out, a range of numbers, the lines of a file, a JSON
// list.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/yaml_reader.h"

namespace tarcil {

// What is said of a file of this machine that a job may not name, before what to write.
inline constexpr const char* kNamesFile = "names a file, and this job file came without others; ";

// [a, b], {range: 1..10, step: 2}, {lines: FILE} or {json: FILE}, files relative to `folder`; none may be
// named without one. What does not fit is reported with the file and line where it stands, and the result is
// then empty.
std::vector<std::string> itemsIn(const YamlValue& value, const std::optional<std::string>& folder);

}  // namespace tarcil
