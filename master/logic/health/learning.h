// What tasks in trouble teach about the profile of their application (Tarcil section 5.2).
#pragma once

#include "core/model/performance.h"
#include "master/logic/tables.h"

namespace tarcil::master {

// A task performs badly, and its monitor holds others' pressure on a resource for the likeliest cause. Where
// the task feels no more of it than the stored profile of its application says it tolerates, the profile
// promises too much: what it tolerates of that resource is lowered towards what the task feels, by
// kMaxLowered at most, and listed in the profile's history. A profile is changed once in kLessonInterval at
// most, so that one bad hour does not spoil it.
//
// Nothing where the job's profile was not the stored one, where none is stored, or where a job of another
// user says of itself how it performs.
void learnFrom(EventContext& context, const Hold& hold, const Violation& violation);

inline constexpr int kMaxLowered = 5;
inline constexpr Duration kLessonInterval = std::chrono::minutes(10);

}  // namespace tarcil::master
