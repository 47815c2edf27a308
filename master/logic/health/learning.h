// What performance violations teach about the profile of an application (Tarcil section 5.2).
#pragma once

#include "core/model/performance.h"
#include "master/logic/tables.h"

namespace tarcil::master {

// A task performs badly, and its monitor takes interference on a resource for the likeliest cause. Where that
// interference is no more than the stored profile of its application says it tolerates, the profile promises
// too much: the pressure that it tolerates on the resource is lowered below the interference, by kMaxLowered
// at most, and the change is listed in the profile's history. A profile is changed once in kLessonInterval at
// most, so that one bad hour does not spoil it.
//
// Does nothing where the job's profile is not the stored one, or where the job of another user reports its
// own performance or sets its target.
void learnFrom(EventContext& context, const Hold& hold, const Violation& violation);

inline constexpr int kMaxLowered = 5;
inline constexpr Duration kLessonInterval = std::chrono::minutes(10);

}  // namespace tarcil::master
