#include "core/model/cron_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/base/rng.h"
#include "core/base/units.h"
#include "tests/support/shifting_zone.h"

namespace tarcil::cron_schedule_test {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using std::chrono::floor;
using std::chrono::local_days;
using std::chrono::minutes;

CronSchedule schedule(const std::string& text) {
  const auto parsed = parseCronSchedule(text);
  EXPECT_TRUE(parsed.ok()) << text << ": " << parsed.error().message;
  return parsed ? *parsed : CronSchedule{};
}

std::string refusal(const std::string& text) {
  const auto parsed = parseCronSchedule(text);
  return parsed ? "" : parsed.error().message;
}

WallTime at(const std::string& written) {
  return parseTime(written + ":00Z").value();
}

std::string textOf(WallTime time) {
  return formatTime(time).substr(0, 16);
}

const ZoneRules& utc() {
  static const auto kUtc = utcOnly().named("UTC").value();
  return *kUtc;
}

std::vector<std::string> times(const std::string& text, const std::string& after, size_t count,
                               const ZoneRules& zone = utc()) {
  std::vector<std::string> found;
  const CronSchedule parsed = schedule(text);
  auto next = nextTime(parsed, zone, at(after));
  for (; next && found.size() < count; next = nextTime(parsed, zone, *next)) found.push_back(textOf(*next));
  return found;
}

TEST(CronSchedule, FieldsMayBeNumbersListsRangesStepsAndNames) {
  EXPECT_EQ(schedule("0,30 8-10 1-31 1-12 1-5"), schedule("0,30 8,9,10 1-31 JAN-dec mon-FRI"));
  EXPECT_EQ(schedule("0 0 1 1-11/5 *"), schedule("0 0 1 JAN,jun,NOV *"));
  EXPECT_EQ(schedule("0\t 0  * * 7"), schedule("0 0 * * SUN"));
  EXPECT_EQ(schedule("0 0 * * 5-7"), schedule("0 0 * * FRI-SUN"));
  EXPECT_EQ(schedule("0 0 * * 0-2"), schedule("0 0 * * sun,1,TUE"));
  EXPECT_EQ(schedule("*/20 * * * *").minutes, uint64_t{1} | uint64_t{1} << 20 | uint64_t{1} << 40);
}

TEST(CronSchedule, ShortFormsStandForFields) {
  EXPECT_EQ(schedule("@hourly"), schedule("0 * * * *"));
  EXPECT_EQ(schedule("@daily"), schedule("0 0 * * *"));
  EXPECT_EQ(schedule("@weekly"), schedule("0 0 * * SUN"));
  EXPECT_EQ(schedule("@monthly"), schedule("0 0 1 * *"));
  EXPECT_EQ(schedule("@yearly"), schedule("0 0 1 1 *"));
}

TEST(CronSchedule, WhatIsWrongIsNamedWithItsField) {
  EXPECT_THAT(refusal("60 * * * *"), AllOf(HasSubstr("minute: '60'"), HasSubstr("0 to 59")));
  EXPECT_THAT(refusal("0 24 * * *"), HasSubstr("hour: '24'"));
  EXPECT_THAT(refusal("0 0 0 * *"), AllOf(HasSubstr("day of month: '0'"), HasSubstr("1 to 31")));
  EXPECT_THAT(refusal("0 0 * 13 *"), HasSubstr("month: '13'"));
  EXPECT_THAT(refusal("0 0 * ANJ *"), HasSubstr("month: 'ANJ'")) << "not across two names";
  EXPECT_THAT(refusal("0 0 * * 8"), HasSubstr("day of week: '8'"));
  EXPECT_THAT(refusal("5-1 0 * * *"), HasSubstr("ends before it begins"));
  EXPECT_THAT(refusal("*/0 0 * * *"), HasSubstr("step of 1 or more"));
  EXPECT_THAT(refusal("*/90 * * * *"), HasSubstr("a step that its range never makes: 59 at most"));
  EXPECT_THAT(refusal("5/10 0 * * *"), HasSubstr("no range"));
  EXPECT_THAT(refusal("1, 0 * * *"), HasSubstr("minute: ''"));
  EXPECT_THAT(refusal("-1 0 * * *"), HasSubstr("minute: '-1'"));
  EXPECT_THAT(refusal("0 0 * *"), HasSubstr("has 4 fields; write five"));
  EXPECT_THAT(refusal(""), HasSubstr("has 0 fields"));
  EXPECT_THAT(refusal("@noon"), HasSubstr("write @hourly"));
}

TEST(CronSchedule, OneThatNeverComesIsRefused) {
  for (const char* never : {"0 0 31 2 *", "0 0 30 FEB *", "0 0 31 4,6,9,11 *", "0 0 30-31 2 */2"}) {
    EXPECT_THAT(refusal(never), HasSubstr("never comes")) << never;
  }
  for (const char* comes : {"0 0 29 2 *", "0 0 30 4 *", "0 0 31 2,3 *", "0 0 31 2 MON"}) {
    EXPECT_THAT(refusal(comes), IsEmpty()) << comes;
  }
}

TEST(CronSchedule, TimesComeInOrder) {
  EXPECT_THAT(times("0 6 * * 1-5", "2026-05-01T06:00", 3),
              ElementsAre("2026-05-04T06:00", "2026-05-05T06:00", "2026-05-06T06:00"))
      << "from a Friday at six";
  EXPECT_THAT(times("30,0 23 31 12 *", "2026-06-01T00:00", 3),
              ElementsAre("2026-12-31T23:00", "2026-12-31T23:30", "2027-12-31T23:00"));
  EXPECT_THAT(times("0 0 29 2 *", "2096-03-01T00:00", 2),
              ElementsAre("2104-02-29T00:00", "2108-02-29T00:00"));
  EXPECT_THAT(times("59 * * * *", "2026-12-31T23:59", 2),
              ElementsAre("2027-01-01T00:59", "2027-01-01T01:59"));
  EXPECT_EQ(nextTime(schedule("@hourly"), utc(), at("2026-05-01T05:59") + 59s), at("2026-05-01T06:00"));
}

TEST(CronSchedule, OfTwoRestrictedFieldsOfDaysOneIsEnough) {
  EXPECT_THAT(times("0 0 13 * 5", "2026-02-01T00:00", 3),
              ElementsAre("2026-02-06T00:00", "2026-02-13T00:00", "2026-02-20T00:00"));
  EXPECT_THAT(times("0 0 13 * 1", "2026-02-09T00:00", 2),
              ElementsAre("2026-02-13T00:00", "2026-02-16T00:00"));
  EXPECT_THAT(times("0 0 */2 * 5", "2026-02-01T00:00", 2),
              ElementsAre("2026-02-13T00:00", "2026-02-27T00:00"))
      << "a field that begins with * restricts nothing by itself, but takes days away";
}

TEST(CronSchedule, NothingComesAfterTheEnd) {
  EXPECT_EQ(nextTime(schedule("@yearly"), utc(), at("2899-06-01T00:00")), std::nullopt);
  EXPECT_EQ(nextTime(schedule("* * 1 1 *"), utc(), at("2899-06-01T00:00")), std::nullopt);
}

TEST(CronSchedule, TheLatestIsFoundAsIfAllWereCounted) {
  const CronSchedule everyMinute = schedule("* * * * *");
  EXPECT_EQ(latestTime(everyMinute, utc(), at("1990-01-01T00:00"), at("2026-01-01T00:00") + 30s),
            at("2026-01-01T00:00"));
  const CronSchedule yearly = schedule("@yearly");
  EXPECT_EQ(latestTime(yearly, utc(), at("1990-01-01T00:00"), at("2026-05-01T00:00")),
            at("2026-01-01T00:00"));
  EXPECT_EQ(latestTime(yearly, utc(), at("2026-01-01T00:00"), at("2026-05-01T00:00")), std::nullopt);
  EXPECT_EQ(latestTime(yearly, utc(), at("2025-12-31T23:59"), at("2026-01-01T00:00")),
            at("2026-01-01T00:00"));
  EXPECT_EQ(latestTime(yearly, utc(), at("2027-01-01T00:00"), at("2026-01-01T00:00")), std::nullopt)
      << "a clock that was put back";
}

// In March from 2:00 to 3:00, in October from 3:00 to 2:00.
ShiftingZone summer() {
  return ShiftingZone({{at("2026-03-29T02:00"), 60min}, {at("2026-10-25T02:00"), 0min}});
}

TEST(CronSchedule, ATimeOfDayThatClocksSkipComesWhenTheyDo) {
  EXPECT_THAT(times("30 2 * * *", "2026-03-28T00:00", 3, summer()),
              ElementsAre("2026-03-28T02:30", "2026-03-29T02:00", "2026-03-30T01:30"));
  EXPECT_THAT(times("0,15,30 2 29 3 *", "2026-03-28T00:00", 2, summer()),
              ElementsAre("2026-03-29T02:00", "2027-03-29T02:00"))
      << "several of them once";
}

TEST(CronSchedule, ATimeOfDayThatClocksShowTwiceComesOnce) {
  EXPECT_THAT(times("30 2 * * *", "2026-10-24T00:00", 3, summer()),
              ElementsAre("2026-10-24T01:30", "2026-10-25T01:30", "2026-10-26T02:30"));
  EXPECT_EQ(textOf(*nextTime(schedule("30 2 * * *"), summer(), at("2026-10-25T02:10"))), "2026-10-26T02:30")
      << "asked in between";
}

TEST(CronSchedule, WhatFollowsTimeGoesByAsTimeDoes) {
  EXPECT_THAT(times("*/30 * * * *", "2026-03-29T01:00", 3, summer()),
              ElementsAre("2026-03-29T01:30", "2026-03-29T02:00", "2026-03-29T02:30"));
  EXPECT_THAT(times("@hourly", "2026-10-25T00:30", 4, summer()),
              ElementsAre("2026-10-25T01:00", "2026-10-25T02:00", "2026-10-25T03:00", "2026-10-25T04:00"));
  EXPECT_THAT(times("*/30 2 * * *", "2026-10-25T00:30", 5, summer()),
              ElementsAre("2026-10-25T01:00", "2026-10-25T01:30", "2026-10-25T02:00", "2026-10-25T02:30",
                          "2026-10-26T02:00"));
  EXPECT_THAT(times("*/30 2 29 3 *", "2026-03-28T00:00", 1, summer()), ElementsAre("2027-03-29T02:00"))
      << "clocks skip all of them";
}

// How often a zone is looked up.
class CountedZone final : public ZoneRules {
 public:
  CountedZone(ShiftingZone rules, size_t& looks) : rules_(std::move(rules)), looks_(looks) {}
  std::chrono::seconds offsetAt(WallTime instant) const override {
    ++looks_;
    return rules_.offsetAt(instant);
  }
  WallTime instantOf(LocalTime local) const override { return rules_.instantOf(local); }

 private:
  const ShiftingZone rules_;
  size_t& looks_;
};

TEST(CronSchedule, OneWhoseTimesClocksAlwaysSkipHasNoneWithinFortyYears) {
  // Last Sundays of March, 2:00.
  std::map<WallTime, minutes> offsets;
  for (int year = 2026; year < 2120; ++year) {
    const auto lastSunday = [year](unsigned month) {
      return std::chrono::sys_days(std::chrono::year(year) / std::chrono::month(month) /
                                   std::chrono::Sunday[std::chrono::last]);
    };
    offsets[lastSunday(3) + 2h] = 60min;
    offsets[lastSunday(10) + 2h] = 0min;
  }
  size_t looks = 0;
  const CountedZone zone(ShiftingZone(offsets), looks);
  EXPECT_EQ(nextTime(schedule("*/30 2 25-31 3 */7"), zone, at("2026-01-01T00:00")), std::nullopt);
  EXPECT_LT(looks, 10'000u);
  EXPECT_EQ(nextTime(schedule("0 2 25-31 3 */7"), zone, at("2026-01-01T00:00")), at("2026-03-29T02:00"))
      << "a time of day";
  EXPECT_EQ(nextTime(schedule("0 0 29 2 */7"), utc(), at("2088-02-29T00:00")), at("2128-02-29T00:00"));
}

// The rules once more, minute by minute.
std::set<WallTime> reference(const CronSchedule& s, const ZoneRules& zone, WallTime from, WallTime until) {
  const auto has = [&s](LocalTime local) {
    const auto day = floor<std::chrono::days>(local);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(floor<minutes>(local - day));
    const bool inMonth = (s.days >> static_cast<unsigned>(date.day()) & 1) != 0;
    const bool inWeek = (s.weekdays >> std::chrono::weekday(day).c_encoding() & 1) != 0;
    return (s.months >> static_cast<unsigned>(date.month()) & 1) != 0 &&
           (s.needsBoth ? inMonth && inWeek : inMonth || inWeek) &&
           (s.hours >> time.hours().count() & 1) != 0 && (s.minutes >> time.minutes().count() & 1) != 0;
  };
  std::set<WallTime> found;
  for (WallTime time = from - 48h; time <= until + 48h; time += 1min) {
    const LocalTime local = s.followsTime ? zone.localTime(time) : LocalTime(time.time_since_epoch());
    if (!has(local)) continue;
    const WallTime instant = s.followsTime ? time : zone.instantOf(local);
    if (instant > from && instant <= until) found.insert(instant);
  }
  return found;
}

std::string randomField(Rng& rng, uint32_t first, uint32_t last) {
  const auto number = [&rng, first, last]() {
    return first + static_cast<uint32_t>(rng.below(last - first + 1));
  };
  switch (rng.below(5)) {
    case 0:
      return "*";
    case 1:
      return "*/" + std::to_string(1 + rng.below(last - first));
    case 2: {
      const uint32_t a = number(), b = number();
      return std::to_string(std::min(a, b)) + "-" + std::to_string(std::max(a, b));
    }
    default:
      return std::to_string(number()) + "," + std::to_string(number());
  }
}

std::string randomSchedule(Rng& rng) {
  return randomField(rng, 0, 59) + " " + randomField(rng, 0, 23) + " " + randomField(rng, 1, 31) + " " +
         randomField(rng, 1, 12) + " " + randomField(rng, 0, 6);
}

TEST(CronSchedule, TimesAreThoseOfTheRules) {
  Rng rng(7);
  size_t compared = 0;
  for (int round = 0; round < 100; ++round) {
    const std::string text = randomSchedule(rng);
    const auto parsed = parseCronSchedule(text);
    if (!parsed) continue;
    const WallTime from = at("2026-03-20T00:00") + minutes(rng.below(60 * 24));
    const WallTime until = from + std::chrono::days(14);
    // Put forward and back again, by up to a day, on quarters of an hour.
    const WallTime forward = at("2026-03-22T00:00") + 15min * static_cast<int64_t>(rng.below(400));
    const WallTime back = forward + 15min * static_cast<int64_t>(1 + rng.below(600));
    const ShiftingZone zone({{forward, 15min * static_cast<int64_t>(rng.below(49))},
                             {back, 15min * (static_cast<int64_t>(rng.below(49)) - 24)}});
    std::set<WallTime> found;
    auto next = nextTime(*parsed, zone, from);
    for (; next && *next <= until; next = nextTime(*parsed, zone, *next)) found.insert(*next);
    const std::set<WallTime> expected = reference(*parsed, zone, from, until);
    ASSERT_EQ(found, expected) << text << ", round " << round;
    const auto latest = latestTime(*parsed, zone, from, until);
    ASSERT_EQ(latest, expected.empty() ? std::nullopt : std::optional(*expected.rbegin())) << text;
    compared += expected.size();
  }
  EXPECT_GT(compared, 300u);
}

}  // namespace tarcil::cron_schedule_test
