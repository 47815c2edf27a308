// The input list of an array in a job file: written out, a range of numbers, the lines of a file, a JSON
// list.
#pragma once

#include <string>
#include <vector>

#include "formats/yaml_reader.h"

namespace tarcil {

// [a, b], {range: 1..10, step: 2}, {lines: FILE} or {json: FILE}, files relative to `folder`. What does not
// fit is reported with the file and line where it stands, and the result is then empty.
std::vector<std::string> itemsIn(const YamlValue& value, const std::string& folder);

}  // namespace tarcil
