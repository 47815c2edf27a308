// The applications that new ones are compared with: as much of their profiles as was measured.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "classifier/completion.h"
#include "core/base/result.h"

namespace tarcil {

// classifier/data/known-applications.yaml as it was when this was built.
std::string_view shippedApplications();

// A mapping with `applications`, a list of mappings with application, tolerated, caused and platforms; what
// is not named was not measured. Invalid: "name:line:column: field: problem; remedy" for every problem found.
Result<std::vector<PartialProfile>> parseApplications(std::string_view text, const std::string& name);
Result<std::vector<PartialProfile>> readApplications(const std::string& path);

}  // namespace tarcil
