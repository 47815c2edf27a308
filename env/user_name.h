// Users of this machine by their numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tarcil {

// Asks the machine's user database, which may take a while where that is on another machine. Nothing where it
// has none of this number.
std::optional<std::string> userNameOf(uint32_t uid);

}  // namespace tarcil
