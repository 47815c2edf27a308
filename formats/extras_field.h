// Countable things (GPUs and the like) in files and in arguments.
#pragma once

#include <string_view>

#include "core/base/result.h"
#include "core/model/job.h"
#include "formats/yaml_reader.h"

namespace tarcil {

// A mapping of kinds to counts, as in {gpus: 1}; what does not fit is reported and left out.
Extras extrasIn(const YamlValue& value);

// Adds the thing that an argument names, as in "gpus=4". Error: kInvalid, for people.
Status addExtra(std::string_view argument, Extras& to);

}  // namespace tarcil
