// Points in time as users write and read them: by the clock on their wall, unless they say otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/time.h"
#include "env/time_zone.h"

namespace tarcil {

// A user's clock.
struct LocalClock {
  WallTime now = kNever;
  Result<TimeZone> zone = TimeZone();  // or why it is not known: the answer to every time that needs it
};

// Where from the present a user looks for the time.
enum class Looking : uint8_t {
  kAhead,  // "6:00" is the next one; "+2h30m" is from now on
  kBack,   // "6:00" is the last one; "2h30m" and "2h30m ago" is that long ago
};

// A day, a time of day or both, and a zone where it is not the clock's: "2026-05-01T12:34:56.5Z",
// "2026-05-01 12:34 Europe/Berlin", "2026-05-01" (its 0:00), "6:00+02:00", "tomorrow 6:00" (today and
// yesterday, too). What clocks show twice or never is decided as in TimeZone::instantOf. The result is after
// kNever and at most kFarthest behind it; looking back, it is not in the future. Error: kInvalid with problem
// and remedy, without a place.
Result<WallTime> parsePointInTime(std::string_view text, const LocalClock& clock,
                                  Looking looking = Looking::kAhead);

// As formatTime, by the clock of that zone and with its offset: "2026-05-01T14:34:56.000000+02:00".
std::string formatLocalTime(WallTime time, const TimeZone& zone);

}  // namespace tarcil
