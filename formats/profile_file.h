// Profiles and other vectors over the ten resources, from YAML or JSON (docs/job-file.md).
#pragma once

#include <string>
#include <string_view>

#include "core/base/names.h"
#include "core/base/result.h"
#include "core/model/profile.h"
#include "formats/yaml_reader.h"

namespace tarcil {

// All errors are kInvalid with one line "name:line:column: field: problem; remedy" for every problem found.

// A profile: caused, tolerated, platforms, application, origins. What is tolerated of a resource that
// `tolerated` does not name is 99 - caused. At least one of caused, tolerated, platforms is given. An
// entry that is named is stated by whoever wrote the file, unless `origins` says more of it; the others
// are assumed.
Result<Profile> readProfile(const std::string& path);
Result<Profile> parseProfile(std::string_view text, const std::string& name);

// A mapping of resources to pressures 0..99; those not named are 0. For contention given on the command line.
Result<Pressure> parsePressure(std::string_view text, const std::string& name);

// A mapping of resources to shares 0..4, rounded to 1/256; those not named are 1.
Result<Share> parseShare(std::string_view text, const std::string& name);

// The same as part of a larger file; what does not fit is reported and left out.
Profile profileIn(const YamlValue& value);
Share shareIn(const YamlValue& value);

}  // namespace tarcil
