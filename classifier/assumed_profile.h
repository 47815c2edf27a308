// What is assumed of an application that nobody has measured, until somebody has.
#pragma once

#include <cstdint>
#include <span>

#include "classifier/completion.h"
#include "core/model/profile.h"

namespace tarcil {

// The most of a resource that it is taken to tolerate, whatever the known ones bear: those were measured on
// machines where perhaps little can be contended for.
inline constexpr uint8_t kMaxAssumed = 50;

// Careful both ways: of each resource it tolerates what the most sensitive tenth of the known applications
// tolerates, and causes what the tenth that presses hardest causes (at least one application is in either).
// Of a resource that was measured of none it is as in a profile that does not name it: nothing caused,
// 99 - caused tolerated. It never tolerates more than kMaxAssumed. O(applications log applications). Pure.
Profile assumedProfile(std::span<const PartialProfile> known);

}  // namespace tarcil
