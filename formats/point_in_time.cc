#include "formats/point_in_time.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

#include "core/base/text.h"
#include "core/base/units.h"

namespace tarcil {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::hours;
using std::chrono::local_days;
using std::chrono::minutes;
using std::chrono::seconds;
using std::chrono::year_month_day;

// Of years within which all that may be written lies; the bounds themselves are of instants.
constexpr int kFirstYear = 1969;
constexpr int kLastYear = 2970;

Error notATime(std::string_view text, Looking looking) {
  return invalid(shown(text) +
                 " is not a time; write it such as 2026-05-01 12:34 (local time), 2026-05-01T12:34:56Z, " +
                 (looking == Looking::kAhead ? "6:00, tomorrow 6:00, or +2h30m for that long from now"
                                             : "6:00, yesterday 6:00, or 2h30m for that long ago"));
}

Error outOfBounds(std::string_view text) {
  return invalid(shown(text) + " is too far away; write a time between the years 1970 and 2968");
}

// What a user has written, piece by piece from the front.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  std::string_view rest() const { return rest_; }
  bool isAtEnd() const { return rest_.empty(); }

  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  bool takeSpaces() {
    const size_t length = std::min(rest_.find_first_not_of(' '), rest_.size());
    rest_.remove_prefix(length);
    return length > 0;
  }
  // All digits at the front; nothing where there are fewer or more of them than that.
  std::optional<int> number(size_t fewest, size_t most) {
    const size_t length = digits();
    if (length < fewest || length > most) return std::nullopt;
    int value = 0;
    std::from_chars(rest_.data(), rest_.data() + length, value);
    rest_.remove_prefix(length);
    return value;
  }
  // The digits behind a decimal point, as millionths.
  std::optional<int> millionths() {
    const size_t length = digits();
    auto value = number(1, 6);
    for (size_t i = length; value && i < 6; ++i) *value *= 10;
    return value;
  }

 private:
  size_t digits() const { return std::min(rest_.find_first_not_of("0123456789"), rest_.size()); }

  std::string_view rest_;
};

// Takes a time apart, day, time of day and zone.
class Reader {
 public:
  Reader(std::string_view text, const LocalClock& clock, Looking looking)
      : text_(text), scanner_(text), clock_(clock), looking_(looking) {}

  Result<WallTime> read() {
    readDay();
    if (!problem_) readTimeOfDay();
    if (!problem_) readZone();
    if (problem_) return std::move(*problem_);
    return instant();
  }

 private:
  void readDay() {
    static constexpr std::pair<std::string_view, int> kWords[] = {
        {"today", 0}, {"tomorrow", 1}, {"yesterday", -1}};
    for (const auto& [word, day] : kWords) {
      if (scanner_.take(word)) fromToday_ = days(day);
    }
    const std::string_view rest = scanner_.rest();
    if (!fromToday_ && rest.size() > 4 && rest[4] == '-') readDate();
  }

  void readDate() {
    const std::string_view written = scanner_.rest().substr(0, 10);
    const auto year = scanner_.number(4, 4);
    const auto month = scanner_.take("-") ? scanner_.number(2, 2) : std::nullopt;
    const auto day = scanner_.take("-") ? scanner_.number(2, 2) : std::nullopt;
    if (!year || !month || !day) return refuse(notATime(text_, looking_));
    const year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                              std::chrono::day(static_cast<unsigned>(*day))};
    if (!date.ok())
      return refuse(invalid(shown(written) + " is no day of the calendar; write one such as 2026-05-01"));
    if (*year < kFirstYear || *year > kLastYear) return refuse(outOfBounds(text_));
    date_ = local_days(date);
  }

  // Behind a day there may be none.
  void readTimeOfDay() {
    const bool hasDay = fromToday_ || date_;
    const bool mustFollow = !hasDay || (date_ && scanner_.take("T"));
    if (!mustFollow && !scanner_.takeSpaces()) return;
    const std::string_view written = scanner_.rest();
    if (!mustFollow && (written.empty() || written.front() < '0' || written.front() > '9')) return;
    const auto hour = scanner_.number(1, 2);
    const auto minute = scanner_.take(":") ? scanner_.number(2, 2) : std::nullopt;
    std::optional<int> second = 0, fraction = 0;
    if (scanner_.take(":")) {
      second = scanner_.number(2, 2);
      if (scanner_.take(".")) fraction = scanner_.millionths();
    }
    if (!hour || !minute || !second || !fraction) return refuse(notATime(text_, looking_));
    if (*hour > 23 || *minute > 59 || *second > 59) {
      return refuse(invalid(shown(written.substr(0, written.size() - scanner_.rest().size())) +
                            " is no time of day; write one from 0:00 to 23:59:59"));
    }
    timeOfDay_ = hours(*hour) + minutes(*minute) + seconds(*second) + Duration(*fraction);
  }

  void readZone() {
    scanner_.takeSpaces();
    const std::string_view rest = scanner_.rest();
    if (rest.empty()) {
      takeZone(clock_.zone);
    } else if (rest.front() == '+' || rest.front() == '-') {
      readOffset();
    } else if (text_[text_.size() - rest.size() - 1] == ' ') {
      takeZone(TimeZone::named(rest));
    } else if (rest != "Z") {
      refuse(notATime(text_, looking_));
    }
  }

  void takeZone(const Result<TimeZone>& zone) {
    if (!zone) return refuse(zone.error());
    zone_ = *zone;
  }

  void readOffset() {
    const bool isBehind = scanner_.rest().front() == '-';
    scanner_.take(isBehind ? "-" : "+");
    const auto hour = scanner_.number(2, 2);
    const auto minute = scanner_.take(":") ? scanner_.number(2, 2) : std::nullopt;
    if (!hour || !minute || *hour > 23 || *minute > 59 || !scanner_.isAtEnd()) {
      return refuse(invalid(shown(text_) + " ends with no offset of a time zone; write one such as +02:00"));
    }
    const seconds offset = hours(*hour) + minutes(*minute);
    zone_ = TimeZone::fixed(isBehind ? -offset : offset);
  }

  WallTime instant() const {
    if (date_) return zone_.instantOf(*date_ + timeOfDay_);
    const auto today = floor<days>(zone_.localTime(clock_.now));
    if (fromToday_) return zone_.instantOf(today + *fromToday_ + timeOfDay_);
    const WallTime time = zone_.instantOf(today + timeOfDay_);
    if (looking_ == Looking::kAhead)
      return time > clock_.now ? time : zone_.instantOf(today + days(1) + timeOfDay_);
    return time <= clock_.now ? time : zone_.instantOf(today - days(1) + timeOfDay_);
  }

  void refuse(Error problem) { problem_ = std::move(problem); }

  std::string_view text_;
  Scanner scanner_;
  const LocalClock& clock_;
  Looking looking_;
  std::optional<days> fromToday_;
  std::optional<local_days> date_;
  Duration timeOfDay_{};
  TimeZone zone_;
  std::optional<Error> problem_;
};

// "1h ago" and, as lists show it, "5 min ago": the duration as parseDuration reads it.
std::string withoutAgo(std::string_view text) {
  constexpr std::string_view kAgo = " ago", kMinutes = "min";
  if (!text.ends_with(kAgo)) return std::string(text);
  std::string duration(text.substr(0, text.size() - kAgo.size()));
  std::erase(duration, ' ');
  if (duration.ends_with(kMinutes)) duration.resize(duration.size() - kMinutes.size() + 1);
  return duration;
}

// Not held against the bounds yet.
Result<WallTime> readTime(std::string_view text, const LocalClock& clock, Looking looking) {
  const bool isAhead = looking == Looking::kAhead;
  if (isAhead && !text.starts_with('+')) return Reader(text, clock, looking).read();
  const auto duration = parseDuration(isAhead ? std::string(text.substr(1)) : withoutAgo(text));
  if (duration) return isAhead ? clock.now + *duration : clock.now - *duration;
  if (isAhead) return duration.error();
  return Reader(text, clock, looking).read();
}

}  // namespace

Result<WallTime> parsePointInTime(std::string_view text, const LocalClock& clock, Looking looking) {
  auto time = readTime(text, clock, looking);
  if (!time) return time;
  if (*time <= kNever || *time > kNever + kFarthest) return outOfBounds(text);
  if (looking == Looking::kBack && *time > clock.now) {
    return invalid(shown(text) + " is in the future; write a time that is past");
  }
  return time;
}

std::string formatLocalTime(WallTime time, const TimeZone& zone) {
  const seconds offset = zone.offsetAt(time);
  std::string text = formatTime(time + offset);
  if (offset.count() == 0) return text;
  text.pop_back();  // the Z of UTC
  const std::chrono::hh_mm_ss behind(offset);
  char written[32];
  const int length =
      std::snprintf(written, sizeof written, "%c%02d:%02d", behind.is_negative() ? '-' : '+',
                    static_cast<int>(behind.hours().count()), static_cast<int>(behind.minutes().count()));
  text.append(written, static_cast<size_t>(length));
  return text;
}

}  // namespace tarcil
