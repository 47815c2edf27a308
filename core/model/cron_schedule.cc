#include "core/model/cron_schedule.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/base/whole_number.h"

namespace tarcil {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::hours;
using std::chrono::local_days;
using std::chrono::minutes;
using std::chrono::weekday;
using std::chrono::year_month_day;

constexpr LocalTime kEnd = local_days(std::chrono::year(2900) / 1 / 1);
// How far is looked ahead: 29 February is on a given day of the week once in 40 years at least.
constexpr std::chrono::years kFarthest{40};

// --- Reading

struct FieldKind {
  const char* name;
  uint32_t first, last;
  const char* names;  // three letters each, the first is of `first`; or empty
  const char* example;
};

constexpr std::array<FieldKind, 5> kFields = {{
    {"minute", 0, 59, "", "0, */15 or 0,30"},
    {"hour", 0, 23, "", "6, */2 or 8-18"},
    {"day of month", 1, 31, "", "1, 1-7 or *"},
    {"month", 1, 12, "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC", "1, JAN-MAR or *"},
    // Sunday is 0, and 7 at the end of a range.
    {"day of week", 0, 7, "SUNMONTUEWEDTHUFRISAT", "1-5, MON-FRI or *"},
}};

Error wrong(const FieldKind& kind, std::string_view text, const std::string& why) {
  return invalid(std::string(kind.name) + ": " + shown(text) + " " + why + "; write for example " +
                 kind.example);
}

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return result;
}

// A number of the field, or a name.
std::optional<uint32_t> valueIn(const FieldKind& kind, std::string_view text) {
  std::optional<uint32_t> value = wholeNumberIn<uint32_t>(text);
  const std::string_view names = kind.names;
  if (text.size() == 3 && !value) {
    const size_t at = names.find(upper(text));
    if (at != std::string_view::npos && at % 3 == 0) value = kind.first + static_cast<uint32_t>(at / 3);
  }
  if (!value || *value < kind.first || *value > kind.last) return std::nullopt;
  return value;
}

// One of the parts that a field has between commas.
Result<uint64_t> readPart(const FieldKind& kind, std::string_view part) {
  const size_t slash = part.find('/');
  const std::string_view range = part.substr(0, slash);
  uint32_t first = kind.first, last = kind.last, step = 1;
  const bool isAll = range == "*";
  const size_t dash = range.find('-');
  if (!isAll) {
    const auto from = valueIn(kind, range.substr(0, dash));
    auto to = dash == std::string_view::npos ? from : valueIn(kind, range.substr(dash + 1));
    if (!from || !to) {
      return wrong(kind, part,
                   "is neither * nor of " + std::to_string(kind.first) + " to " + std::to_string(kind.last));
    }
    // A week that ends on Sunday.
    if (kind.last == 7 && *to == 0 && *from > 0) to = 7;
    first = *from;
    last = *to;
  }
  if (first > last) return wrong(kind, part, "is a range that ends before it begins");
  if (slash != std::string_view::npos) {
    const auto written = wholeNumberIn<uint32_t>(part.substr(slash + 1));
    if (!written || *written == 0) return wrong(kind, part, "has no step of 1 or more behind its /");
    if (!isAll && dash == std::string_view::npos)
      return wrong(kind, part, "has a step, and no range that it goes over");
    if (*written > last - first)
      return wrong(kind, part,
                   "has a step that its range never makes: " + std::to_string(last - first) + " at most");
    step = *written;
  }
  uint64_t set = 0;
  for (uint64_t value = first; value <= last; value += step) set |= uint64_t{1} << value;
  return set;
}

Result<uint64_t> readField(const FieldKind& kind, std::string_view field) {
  uint64_t set = 0;
  for (size_t begin = 0; begin <= field.size();) {
    const size_t comma = std::min(field.find(',', begin), field.size());
    auto part = readPart(kind, field.substr(begin, comma - begin));
    if (!part) return part;
    set |= *part;
    begin = comma + 1;
  }
  return set;
}

std::vector<std::string_view> wordsOf(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    if (text.empty()) return words;
    const size_t length = std::min(text.find_first_of(" \t"), text.size());
    words.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kShort = {{{"@hourly", "0 * * * *"},
                                                                                  {"@daily", "0 0 * * *"},
                                                                                  {"@weekly", "0 0 * * 0"},
                                                                                  {"@monthly", "0 0 1 * *"},
                                                                                  {"@yearly", "0 0 1 1 *"}}};

// Some month has some of its days.
bool everComes(const CronSchedule& schedule) {
  if (!schedule.needsBoth) return true;
  for (uint32_t month = 1; month <= 12; ++month) {
    if ((schedule.months >> month & 1) == 0) continue;
    const uint32_t last = month == 2 ? 29 : month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
    if ((schedule.days & ((uint64_t{2} << last) - 2)) != 0) return true;
  }
  return false;
}

// --- Finding times

bool contains(uint64_t set, uint64_t value) {
  return (set >> value & 1) != 0;
}

bool hasDay(const CronSchedule& schedule, local_days day) {
  const year_month_day date(day);
  if (!contains(schedule.months, static_cast<unsigned>(date.month()))) return false;
  const bool inMonth = contains(schedule.days, static_cast<unsigned>(date.day()));
  const bool inWeek = contains(schedule.weekdays, weekday(day).c_encoding());
  return schedule.needsBoth ? inMonth && inWeek : inMonth || inWeek;
}

// Where the search for a time behind `after` stops.
LocalTime endOfSearch(LocalTime after) {
  return std::min(kEnd, after + kFarthest);
}

// From this day on; the first one behind `end` at the latest.
local_days nextDay(const CronSchedule& schedule, local_days day, LocalTime end) {
  while (day <= end && !hasDay(schedule, day)) {
    const year_month_day date(day);
    const bool isOfMonth = contains(schedule.months, static_cast<unsigned>(date.month()));
    day = isOfMonth ? day + days(1) : local_days((date.year() / date.month() + std::chrono::months(1)) / 1);
  }
  return day;
}

// Of the bits above `value`, the lowest; nothing where there is none.
std::optional<unsigned> nextIn(uint64_t set, unsigned value) {
  const uint64_t above = value >= 63 ? 0 : set >> (value + 1);
  if (above == 0) return std::nullopt;
  return value + 1 + static_cast<unsigned>(std::countr_zero(above));
}

// The first time on a calendar without zones behind a whole minute; later than `end` where there is none.
LocalTime nextOnCalendar(const CronSchedule& schedule, LocalTime after, LocalTime end) {
  const local_days today = floor<days>(after);
  const local_days day = nextDay(schedule, today, end);
  const auto lowest = [](uint64_t set) { return static_cast<unsigned>(std::countr_zero(set)); };
  if (day > today) return day + hours(lowest(schedule.hours)) + minutes(lowest(schedule.minutes));
  const auto minuteOfDay = static_cast<unsigned>(floor<minutes>(after - today).count());
  const unsigned hour = minuteOfDay / 60, minute = minuteOfDay % 60;
  if (contains(schedule.hours, hour)) {
    if (const auto next = nextIn(schedule.minutes, minute)) return today + hours(hour) + minutes(*next);
  }
  if (const auto next = nextIn(schedule.hours, hour))
    return today + hours(*next) + minutes(lowest(schedule.minutes));
  const local_days other = nextDay(schedule, today + days(1), end);
  return other + hours(lowest(schedule.hours)) + minutes(lowest(schedule.minutes));
}

std::optional<WallTime> nextTimeOfDay(const CronSchedule& schedule, const ZoneRules& zone, WallTime after) {
  LocalTime local = floor<minutes>(zone.localTime(after));
  const LocalTime end = endOfSearch(local);
  // The clock has shown that already, so nothing before it is to come; what it is about to show once more has
  // been.
  while (true) {
    local = nextOnCalendar(schedule, local, end);
    if (local > end || local >= kEnd) return std::nullopt;
    const WallTime instant = zone.instantOf(local);
    if (instant > after) return instant;
  }
}

// Clocks are put forward and back on quarters of an hour of UTC, and by quarters of an hour.
constexpr minutes kQuarter{15};

// For how long the clock goes on evenly from then: at most a day, and at least until the next quarter. It is
// not put forward and back again within a day.
minutes evenFor(const ZoneRules& zone, WallTime time) {
  for (minutes span = days(1); span > kQuarter; span /= 2) {
    if (zone.offsetAt(time + span) == zone.offsetAt(time)) return span;
  }
  return kQuarter - floor<minutes>(time.time_since_epoch()) % kQuarter;
}

std::optional<WallTime> nextAsTimeGoes(const CronSchedule& schedule, const ZoneRules& zone, WallTime after) {
  WallTime time = floor<minutes>(after) + minutes(1);
  const LocalTime end = endOfSearch(floor<minutes>(zone.localTime(time)));
  while (true) {
    const LocalTime local = floor<minutes>(zone.localTime(time));
    if (local > end || local >= kEnd) return std::nullopt;
    const LocalTime next = nextOnCalendar(schedule, local - minutes(1), end);
    if (next == local) return time;
    const minutes even = evenFor(zone, time);
    const bool isFar = next - local > days(2) && even == days(1);
    if (isFar) {
      time = std::max(time + kQuarter, zone.instantOf(std::min(next, kEnd) - days(1)));
    } else {
      time += std::min(floor<minutes>(next - local), even);
    }
  }
}

}  // namespace

Result<CronSchedule> parseCronSchedule(std::string_view text) {
  std::vector<std::string_view> words = wordsOf(text);
  if (words.size() == 1 && words.front().starts_with('@')) {
    const auto found = std::ranges::find(kShort, words.front(), &decltype(kShort)::value_type::first);
    if (found == kShort.end()) {
      return invalid(shown(words.front()) +
                     " is no schedule; write @hourly, @daily, @weekly, @monthly, @yearly or five fields such "
                     "as '0 6 * * 1-5'");
    }
    words = wordsOf(found->second);
  }
  if (words.size() != kFields.size()) {
    return invalid(shown(text) + " has " + std::to_string(words.size()) +
                   " fields; write five (minute, hour, day of month, month, day of week), for example '0 6 * "
                   "* 1-5'");
  }
  std::array<uint64_t, kFields.size()> sets{};
  for (size_t i = 0; i < sets.size(); ++i) {
    const auto set = readField(kFields[i], words[i]);
    if (!set) return set.error();
    sets[i] = *set;
  }
  constexpr uint64_t kSunday = 1, kSeventh = 1u << 7;
  if ((sets[4] & kSeventh) != 0) sets[4] = (sets[4] & ~kSeventh) | kSunday;
  const auto isStar = [&words](size_t field) { return words[field].starts_with('*'); };
  CronSchedule schedule{.minutes = sets[0],
                        .hours = static_cast<uint32_t>(sets[1]),
                        .days = static_cast<uint32_t>(sets[2]),
                        .months = static_cast<uint32_t>(sets[3]),
                        .weekdays = static_cast<uint32_t>(sets[4]),
                        .needsBoth = isStar(2) || isStar(4),
                        .followsTime = isStar(0) || isStar(1)};
  if (!everComes(schedule)) {
    return invalid("day of month: " + shown(words[2]) + " is in none of the months " + shown(words[3]) +
                   ", so it never comes; write a day that one of them has");
  }
  return schedule;
}

std::optional<WallTime> nextTime(const CronSchedule& schedule, const ZoneRules& zone, WallTime after) {
  return schedule.followsTime ? nextAsTimeGoes(schedule, zone, after) : nextTimeOfDay(schedule, zone, after);
}

std::optional<WallTime> latestTime(const CronSchedule& schedule, const ZoneRules& zone, WallTime after,
                                   WallTime until) {
  // Further and further back, so that little is counted through to the end.
  for (Duration back = minutes(2);; back *= 2) {
    const WallTime from = until - back > after ? until - back : after;
    std::optional<WallTime> latest;
    for (auto next = nextTime(schedule, zone, from); next && *next <= until;
         next = nextTime(schedule, zone, *next)) {
      latest = next;
    }
    if (latest || from == after) return latest;
  }
}

}  // namespace tarcil
