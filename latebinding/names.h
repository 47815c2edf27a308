// Names that all roles use for late binding: the attribute of servers that take late-bound tasks, and numbers
// of users.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/result.h"
#include "core/model/job.h"
#include "latebinding/messages.h"

namespace tarcil::late {

// Servers whose monitor takes late-bound tasks have this attribute; its value is the most units that they may
// run on. Constraints may name it like any other.
inline constexpr std::string_view kServerAttribute = "late_binding";

// How monitors know a user: two of one number, which is unlikely, share what one of them would get.
UserNumber numberOf(std::string_view user);

}  // namespace tarcil::late
