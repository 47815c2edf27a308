// The profiles of applications: stored by users for their own jobs or by operators for all, found by whoever
// submits a job that names its application.
#pragma once

#include <string>

#include "core/base/result.h"
#include "master/logic/tables.h"

namespace tarcil::master {

// A plain name, optionally followed by @ and a version.
Status checkApplication(const std::string& application);

// Adds the profile, or replaces the one of that application: for all where the caller is an operator, for the
// caller's own jobs otherwise, since a profile decides where others' tasks may run beside it. Invalid where
// it names no application or its numbers are out of range; Exhausted where kMaxStoredProfiles are stored, or
// kMaxStoredProfilesOfUser by this caller, who is no operator.
Status storeProfile(EventContext& context, const ProfileStored& event);

// The user's own profile and what was observed of their runs; where they have no own one and none is named,
// the one for all, which is for operators. NotFound where there is nothing, Denied where there is only what
// the caller may not. Where there is none because measuring the application failed, forgets that failure.
Status deleteProfile(EventContext& context, const ProfileDeleted& event);

// By an operator: the user's own profile, with what was observed of their runs, counts for all from now on;
// or what was observed becomes part of the one for all, or is one. By the user: what was observed becomes
// part of their own. NotFound where there is nothing to promote, Denied for another user.
Status promoteProfile(EventContext& context, const ProfilePromoted& event);

// What jobs of the user get under this name: their own profile before that for all; for NAME@VERSION that of
// NAME where none of that version is stored; null where there is none. Valid until the next change.
const StoredProfile* findProfile(const Profiles& profiles, const std::string& application,
                                 const std::string& user);

}  // namespace tarcil::master
