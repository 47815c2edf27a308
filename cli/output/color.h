// Colours of what is printed for people: nothing else knows any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tarcil {

// What --color says.
enum class ColorMode : uint8_t {
  kAuto,  // where stdout is a terminal whose TERM is not "dumb", unless NO_COLOR is set and not empty
  kAlways,
  kNever,
};

// For the whole process from here on; kAuto before. Not to be called while another thread prints.
void setColorMode(ColorMode mode);
bool isColored();

enum class Paint : uint8_t { kPlain, kHeading, kGood, kWaiting, kBad };

// Of a job, task, server or cron job in this state; the first word counts.
Paint paintOfState(std::string_view state);

// The text between escape sequences, whether or not the process prints colours. Requires: control characters
// in it have been replaced.
std::string painted(std::string_view text, Paint paint);

}  // namespace tarcil
