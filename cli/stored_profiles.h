// Profiles that a cluster keeps, as commands ask for them and show them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/cluster.h"
#include "cli/json.h"
#include "core/state/stored_profile.h"

namespace tarcil {

// For NAME@VERSION where none of that version is kept, the one of NAME; nullopt where neither is.
std::optional<StoredProfile> findStoredProfile(Cluster& cluster, const std::string& application);
// All, by name.
std::vector<StoredProfile> storedProfiles(Cluster& cluster);

// As a profile file, which `tarcil submit --profile` and `tarcil profile import` take.
std::string yamlOf(const Profile& profile);

// Keys: application, caused, tolerated, platforms, user, stored, revision, note, history.
Json jsonOf(const StoredProfile& profile);
std::string textOf(const StoredProfile& profile);
std::string textOf(const std::vector<StoredProfile>& profiles);

}  // namespace tarcil
