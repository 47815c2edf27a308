// Profiles that a cluster keeps, as commands ask for them and show them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/cluster.h"
#include "core/state/stored_profile.h"
#include "formats/json.h"

namespace tarcil {

// For NAME@VERSION where none of that version is kept, the one of NAME; nullopt where neither is.
std::optional<StoredProfile> findStoredProfile(Cluster& cluster, const std::string& application);

struct KeptProfiles {
  std::vector<StoredProfile> stored;
  std::vector<Profiling> profilings;  // applications that are being measured, or whose measurement failed
};

// All, by name.
KeptProfiles keptProfiles(Cluster& cluster);

// Keys: application, caused, tolerated, entries (where each number comes from, as `tarcil profile run` says
// it), platforms, platform_entries (the same of these), user, stored, revision, note, history.
Json jsonOf(const StoredProfile& profile);
std::string textOf(const StoredProfile& profile);

// An array of the above, each with the key `state`: "stored"; then of the others, with the state
// "measuring" or "failed", and the keys application, user, job, since (or since when it has failed) and
// reason (null or why).
Json jsonOf(const KeptProfiles& kept);
// Empty where there are none.
std::string textOf(const KeptProfiles& kept);

}  // namespace tarcil
