// When something is to be done again and again: the five fields of cron(5), read by the clock on the wall of
// some place.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/result.h"
#include "core/base/time.h"
#include "core/base/time_zones.h"

namespace tarcil {

// Sets of numbers, a bit for each.
struct CronSchedule {
  uint64_t minutes = 0;
  uint32_t hours = 0;
  uint32_t days = 0;      // of the month, from bit 1 on
  uint32_t months = 0;    // from bit 1 on
  uint32_t weekdays = 0;  // Sunday is bit 0
  // Whether a day has to be in both of `days` and `weekdays`; else, where both fields restrict days, in
  // either.
  bool needsBoth = true;
  // Whether the times go by, every hour or minute, as time does, whatever is done to the clock on the wall;
  // else they are times of day.
  bool followsTime = false;

  bool operator==(const CronSchedule&) const = default;
};

// "MINUTE HOUR DAY-OF-MONTH MONTH DAY-OF-WEEK": each *, a number, a range a-b, either of the latter two with
// /STEP behind it, or several with commas; months and days of the week by name, too (JAN, MON), and 7 is
// Sunday. Or one of @hourly, @daily, @weekly, @monthly, @yearly. Error: kInvalid, which names the field and
// what to write; also for a schedule that never comes, such as 31 February.
Result<CronSchedule> parseCronSchedule(std::string_view text);

// The first time of the schedule behind `after`; whole minutes of the clock on the wall. When a clock is put
// forward over a time of day, its time is when that happens; of a time of day that there is twice it is the
// first. A schedule whose minute or hour begins with * follows time instead: it has no time that the clock
// does not show, and both of those that it shows twice. Nothing where there is none within the next
// 40 years.
std::optional<WallTime> nextTime(const CronSchedule& schedule, const ZoneRules& zone, WallTime after);

// The last time of the schedule in (after, until]. Nothing where there is none.
std::optional<WallTime> latestTime(const CronSchedule& schedule, const ZoneRules& zone, WallTime after,
                                   WallTime until);

}  // namespace tarcil
