// Profiles that a cluster keeps, as commands ask for them and show them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/cluster.h"
#include "core/state/observed_profile.h"
#include "core/state/stored_profile.h"
#include "formats/json.h"

namespace tarcil {

// What a cluster knows of an application.
struct KnownProfile {
  std::optional<StoredProfile> stored;      // the user's own, else that for all
  std::optional<ObservedProfile> observed;  // in one user's runs

  // Whether a job that names the application gets a profile.
  bool hasProfile() const { return stored || (observed && observed->isBelieved()); }
  // As stored, with what was observed: what a job of that user gets where hasProfile(). Requires: one of the
  // two is there.
  Profile profile() const;
};

// For NAME@VERSION where none of that version is kept, the one of NAME. An empty `user` is the caller;
// another's is for operators.
KnownProfile findProfile(Cluster& cluster, const std::string& application, const std::string& user = "");

struct KeptProfiles {
  std::vector<StoredProfile> stored;
  std::vector<Profiling> profilings;  // applications that are being measured, or whose measurement failed
  std::vector<ObservedProfile> observed;
};

// All, by name.
KeptProfiles keptProfiles(Cluster& cluster);

// As a job of that user gets it. Keys: application, caused, tolerated, entries (where each number comes from,
// as `tarcil profile run` says it), platforms, platform_entries (the same of these), user, stored, revision
// (null where none is stored), note, history, observed (null, or: user, runs, last, caused, by resource:
// runs, mean, spread; performances, each with: platform, metric, rus, runs, mean, spread, last). Requires:
// one of the two is there.
Json jsonOf(const KnownProfile& known);
std::string textOf(const KnownProfile& known);

// An array of the stored ones as above, each with the key `state`: "stored"; then of the others, with the
// state "measuring" or "failed", and the keys application, user, job, since (or since when it has failed) and
// reason (null or why); then what was observed, with the state "observed" and the keys application and those
// of `observed` above.
Json jsonOf(const KeptProfiles& kept);
// Empty where there are none.
std::string textOf(const KeptProfiles& kept);

}  // namespace tarcil
