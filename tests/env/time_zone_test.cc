#include "env/time_zone.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/units.h"

namespace tarcil::time_zone_test {

using namespace std::chrono_literals;
using std::chrono::sys_days;
using testing::HasSubstr;

TimeZone zone(const std::string& name) {
  auto found = TimeZone::named(name);
  EXPECT_TRUE(found.ok()) << found.error().message;
  return found ? *found : TimeZone();
}

// Local time as it would be written in UTC.
LocalTime local(const std::string& written) {
  return LocalTime(parseTime(written + "Z").value().time_since_epoch());
}

std::string instantOf(const std::string& zoneName, const std::string& written) {
  std::string text = formatTime(zone(zoneName).instantOf(local(written)));
  return text.substr(0, text.find('.'));
}

TEST(TimeZone, TurnsLocalTimeToInstants) {
  EXPECT_EQ(instantOf("UTC", "2026-05-01T12:34:56"), "2026-05-01T12:34:56");
  EXPECT_EQ(instantOf("Europe/Berlin", "2026-05-01T12:34:56"), "2026-05-01T10:34:56");
  EXPECT_EQ(instantOf("Europe/Berlin", "2026-12-01T12:34:56"), "2026-12-01T11:34:56");
  EXPECT_EQ(instantOf("America/New_York", "2026-05-01T23:00:00"), "2026-05-02T03:00:00");
  EXPECT_EQ(instantOf("Asia/Kathmandu", "2026-05-01T05:45:00"), "2026-05-01T00:00:00");
}

TEST(TimeZone, KeepsMicroseconds) {
  const TimeZone berlin = zone("Europe/Berlin");
  const WallTime instant = parseTime("2026-05-01T12:34:56.123456Z").value();
  EXPECT_EQ(berlin.instantOf(berlin.localTime(instant)), instant);
  EXPECT_EQ(berlin.offsetAt(instant), 2h);
  const WallTime early(-1us);
  EXPECT_EQ(berlin.instantOf(berlin.localTime(early)), early);
}

TEST(TimeZone, ATimeThatClocksSkipIsTheInstantAtWhichTheyDo) {
  for (const char* skipped : {"2026-03-29T02:00:00", "2026-03-29T02:30:00", "2026-03-29T02:59:59.999999"}) {
    EXPECT_EQ(instantOf("Europe/Berlin", skipped), "2026-03-29T01:00:00") << skipped;
  }
  EXPECT_EQ(instantOf("Europe/Berlin", "2026-03-29T01:59:59"), "2026-03-29T00:59:59");
  EXPECT_EQ(instantOf("Europe/Berlin", "2026-03-29T03:00:00"), "2026-03-29T01:00:00");
  EXPECT_EQ(instantOf("Australia/Lord_Howe", "2026-10-04T02:15:00"), "2026-10-03T15:30:00")
      << "by half an hour";
  EXPECT_EQ(instantOf("Pacific/Apia", "2011-12-30T12:00:00"), "2011-12-30T10:00:00") << "a whole day";
}

TEST(TimeZone, OfATimeThatClocksShowTwiceItIsTheFirst) {
  EXPECT_EQ(instantOf("Europe/Berlin", "2026-10-25T01:59:59"), "2026-10-24T23:59:59");
  EXPECT_EQ(instantOf("Europe/Berlin", "2026-10-25T02:00:00"), "2026-10-25T00:00:00");
  EXPECT_EQ(instantOf("Europe/Berlin", "2026-10-25T02:30:00"), "2026-10-25T00:30:00");
  EXPECT_EQ(instantOf("Europe/Berlin", "2026-10-25T03:00:00"), "2026-10-25T02:00:00");
}

// The rule itself, hour by hour: nothing that clocks have shown comes later than they first did.
TEST(TimeZone, AnInstantIsTheFirstAtWhichItsTimeIsShown) {
  for (const char* name : {"Europe/Berlin", "America/Havana", "Australia/Lord_Howe", "Africa/Casablanca"}) {
    const TimeZone here = zone(name);
    WallTime last{};
    for (WallTime instant = sys_days(2026y / 1 / 1); instant < sys_days(2027y / 1 / 1); instant += 30min) {
      const LocalTime shown = here.localTime(instant);
      const WallTime first = here.instantOf(shown);
      ASSERT_LE(first, instant) << name;
      ASSERT_EQ(here.localTime(first), shown) << name;
      ASSERT_GE(here.instantOf(shown + 1us), first) << name;
      if (first == instant) {
        ASSERT_GT(instant, last) << name;
        last = first;
      }
    }
  }
}

TEST(TimeZone, KnowsTheRulesOfYearsBehindThoseThatTheDatabaseLists) {
  EXPECT_EQ(instantOf("Europe/Berlin", "2050-07-01T12:00:00"), "2050-07-01T10:00:00");
  EXPECT_EQ(instantOf("Europe/Berlin", "2900-07-01T12:00:00"), "2900-07-01T10:00:00");
  EXPECT_EQ(instantOf("Europe/Berlin", "2900-01-01T12:00:00"), "2900-01-01T11:00:00");
}

TEST(TimeZone, MayBeANumberOfHours) {
  const TimeZone there = TimeZone::fixed(-(3h + 30min));
  EXPECT_EQ(there.instantOf(local("2026-05-01T00:00:00")), parseTime("2026-05-01T03:30:00Z").value());
}

TEST(TimeZone, RefusesNamesThatAreNone) {
  for (const char* name : {"Europe/Berlni", "Europe", "Europe/", "pm"}) {
    const auto found = TimeZone::named(name);
    ASSERT_FALSE(found.ok()) << name;
    EXPECT_THAT(found.error().message,
                HasSubstr("is no time zone of this machine; write one such as Europe/Berlin"));
  }
  const std::string tooLong(101, 'a');
  for (const std::string& name : {std::string(), std::string("/etc/localtime"),
                                  std::string("../zoneinfo/UTC"), std::string("libc:UTC"), tooLong}) {
    const auto found = TimeZone::named(name);
    ASSERT_FALSE(found.ok()) << name;
    EXPECT_EQ(found.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(found.error().message, HasSubstr("is no time zone; write one such as Europe/Berlin")) << name;
  }
}

TEST(TimeZone, OfAUserIsWhatTzSays) {
  const WallTime summer = sys_days(2026y / 7 / 1);
  for (const char* tz : {"Europe/Berlin", ":Europe/Berlin", "/usr/share/zoneinfo/Europe/Berlin"}) {
    const auto found = TimeZone::ofUser(tz);
    ASSERT_TRUE(found.ok()) << tz << ": " << found.error().message;
    EXPECT_EQ(found->offsetAt(summer), 2h) << tz;
  }
  for (const char* tz : {"", ":", "UTC", "UTC0"}) {
    const auto found = TimeZone::ofUser(tz);
    ASSERT_TRUE(found.ok()) << tz << ": " << found.error().message;
    EXPECT_EQ(found->offsetAt(summer), 0h) << tz;
  }
  const auto rule = TimeZone::ofUser("CET-1CEST,M3.5.0,M10.5.0/3");
  ASSERT_FALSE(rule.ok());
  EXPECT_THAT(rule.error().message,
              HasSubstr("TZ: 'CET-1CEST,M3.5.0,M10.5.0/3' is no time zone of this machine"));
}

}  // namespace tarcil::time_zone_test
