// What a process says to the person who started it.
#pragma once

#include <string_view>

namespace tarcil {

// A message for people: to stderr, every line with the prefix "tarcil: ".
void say(std::string_view message);

}  // namespace tarcil
