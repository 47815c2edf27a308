// The applications that new ones are compared with: as much of their profiles as was measured.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "classifier/completion.h"
#include "core/base/result.h"
#include "core/state/stored_profile.h"

namespace tarcil {

// classifier/data/known-applications.yaml as it was when this was built.
std::string_view shippedApplications();

// A mapping with `applications`, a list of mappings with application, tolerated, caused and platforms; what
// is not named was not measured. Invalid: "name:line:column: field: problem; remedy" for every problem found.
Result<std::vector<PartialProfile>> parseApplications(std::string_view text, const std::string& name);
Result<std::vector<PartialProfile>> readApplications(const std::string& path);

// As parseApplications reads them.
std::string yamlOf(const std::vector<PartialProfile>& applications);

// What a cluster knows: the applications that came with this executable, and of the profiles that it keeps
// the entries that were measured, in place of one of the same name that came with it. Of more than kMaxKept
// the newest. That of `except` is left out: its new measurement is to stand alone. Pure.
std::vector<PartialProfile> knownApplications(std::vector<StoredProfile> kept, const std::string& except);

// From so many a profile is completed within a second (ProfileCompleter).
inline constexpr size_t kMaxKept = 1000;

}  // namespace tarcil
