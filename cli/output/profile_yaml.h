// A profile as the file that `tarcil submit --profile` and `tarcil profile import`
// take (formats/profile_file.h).
#pragma once

#include <string>

#include "core/model/profile.h"

namespace tarcil {

// Comes back as it is, but for isAssumed: that it was a guess the origins say.
std::string yamlOf(const Profile& profile);

// The part of it that says where its entries come from; empty where whoever wrote it says no more.
std::string originsYaml(const Profile& profile);

// "measured", or "inferred +-5" where it may be off by 5 points in the mean.
std::string textOf(const EntryOrigin& entry);
// The same of performance on a platform: "inferred +-0.05".
std::string textOfPlatform(const EntryOrigin& entry);

}  // namespace tarcil
