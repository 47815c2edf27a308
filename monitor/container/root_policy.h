// Which folders of a server tasks may have as their root file system.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace tarcil {

// Also where both are the same. Requires: paths without symbolic links on the way.
bool isBelow(const std::filesystem::path& path, const std::filesystem::path& folder);

// The folder `wanted` without symbolic links on the way. kDenied: it is neither one of `allowed` nor below
// one, links followed in both. kNotFound: it is not there. kInvalid: it is not absolute, or no folder.
Result<std::string> allowedRoot(const std::string& wanted, const std::vector<std::string>& allowed);

}  // namespace tarcil
