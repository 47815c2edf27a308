// The profiles of applications: stored by users, found by whoever submits a job that names its application.
#pragma once

#include <string>

#include "core/base/result.h"
#include "master/logic/tables.h"

namespace tarcil::master {

// A plain name, optionally followed by @ and a version.
Status checkApplication(const std::string& application);

// Adds the profile, or replaces the one of that application. Invalid where it names no application or its
// numbers are out of range; Denied where another user stored the one that is there and the caller is no
// operator; Exhausted where kMaxStoredProfiles are stored, or kMaxStoredProfilesOfUser by this caller, who is
// no operator.
Status storeProfile(EventContext& context, const ProfileStored& event);

// What was observed of the caller's own runs goes too, also where the profile itself is another user's and
// stays. NotFound where there is neither, or Denied as above. Where there is none because measuring the
// application failed, forgets that failure.
Status deleteProfile(EventContext& context, const ProfileDeleted& event);

// The profile of this name; for NAME@VERSION that of NAME where none of that version is stored; null where
// there is neither. Valid until the next change.
const StoredProfile* findProfile(const Profiles& profiles, const std::string& application);

}  // namespace tarcil::master
