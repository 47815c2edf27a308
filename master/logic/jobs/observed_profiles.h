// What each user's runs of an application were measured to cause and how well they performed (Tarcil section
// 5.2): kept beside the profile that is stored for all, so that no user's runs change what others are charged
// for.
#pragma once

#include <string>

#include "core/base/result.h"
#include "master/logic/tables.h"

namespace tarcil::master {

// A task is about to give its units back: of each resource that its monitor measured, the most that it was
// charged for counts as one run of its application by its user. Nothing for a task whose job names no
// application or measures one, that was throttled, or that was not measured, since it was too short or
// emulated. Where a user has kMaxObservedProfilesOfUser, or all have kMaxObservedProfiles, the one observed
// longest ago goes.
void observeRun(EventContext& context, const Hold& hold);

// The usual performance of a task that has ended counts as one run of its application by its user, on the
// platform of its server. Nothing for a task of no application, that was throttled, that had other units than
// its job asks for, or whose number makes no sense. Bounded as observeRun() is. To be called before
// endTask().
void observePerformance(EventContext& context, const Hold& hold, double reached);

// Null where there is none. Valid until the next change.
const ObservedProfile* findObserved(const ObservedProfiles& observed, const std::string& application,
                                    const std::string& user);

// Whether there was one.
bool forgetObserved(EventContext& context, const std::string& application, const std::string& user);

// What became part of a profile; how well the runs performed stays the user's own. Requires: there is some.
void forgetCaused(EventContext& context, const std::string& application, const std::string& user);

}  // namespace tarcil::master
