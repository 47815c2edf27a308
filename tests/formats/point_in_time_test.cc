#include "formats/point_in_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/units.h"

namespace tarcil::point_in_time_test {

using namespace std::chrono_literals;
using testing::HasSubstr;

WallTime utc(const std::string& written) {
  return parseTime(written + "Z").value();
}

// A user in Berlin at this instant.
LocalClock berlinAt(const std::string& written) {
  return {.now = utc(written), .zone = TimeZone::named("Europe/Berlin")};
}

// A Friday, 15:00 in Berlin.
const LocalClock kNoon = berlinAt("2026-05-01T13:00:00");

std::string timeOf(std::string_view text, const LocalClock& clock = kNoon,
                   Looking looking = Looking::kAhead) {
  const auto time = parsePointInTime(text, clock, looking);
  if (!time) return time.error().message;
  const std::string written = formatTime(*time);
  return written.ends_with(".000000Z") ? written.substr(0, 19) : written;
}

TEST(PointInTime, MayHaveItsZoneWithIt) {
  EXPECT_EQ(timeOf("2026-05-01T12:34:56Z"), "2026-05-01T12:34:56");
  EXPECT_EQ(timeOf("2026-05-01 12:34:56Z"), "2026-05-01T12:34:56");
  EXPECT_EQ(timeOf("2026-05-01T12:34:56.5Z"), "2026-05-01T12:34:56.500000Z");
  EXPECT_EQ(timeOf("2026-05-01T12:34:56.000001+02:00"), "2026-05-01T10:34:56.000001Z");
  EXPECT_EQ(timeOf("2026-05-01T12:34-03:30"), "2026-05-01T16:04:00");
  EXPECT_EQ(timeOf("2026-05-01T12:34:56 America/New_York"), "2026-05-01T16:34:56");
  EXPECT_EQ(timeOf("2026-05-01 12:34 UTC"), "2026-05-01T12:34:00");
  EXPECT_EQ(timeOf("2026-05-02 America/New_York"), "2026-05-02T04:00:00");
  EXPECT_EQ(timeOf("2026-05-02 +01:00"), "2026-05-01T23:00:00");
}

TEST(PointInTime, IsLocalWithoutAZone) {
  EXPECT_EQ(timeOf("2026-05-01T12:34:56"), "2026-05-01T10:34:56");
  EXPECT_EQ(timeOf("2026-12-01 12:34"), "2026-12-01T11:34:00");
  EXPECT_EQ(timeOf("2026-05-03"), "2026-05-02T22:00:00") << "its 0:00";
}

TEST(PointInTime, MayBeATimeOfDay) {
  EXPECT_EQ(timeOf("18:30"), "2026-05-01T16:30:00");
  EXPECT_EQ(timeOf("6:00"), "2026-05-02T04:00:00");
  EXPECT_EQ(timeOf("06:00:30.25"), "2026-05-02T04:00:30.250000Z");
  EXPECT_EQ(timeOf("15:00"), "2026-05-02T13:00:00") << "the next one, not this instant";
  EXPECT_EQ(timeOf("0:00 America/New_York"), "2026-05-02T04:00:00");
  EXPECT_EQ(timeOf("14:00Z"), "2026-05-01T14:00:00");
  EXPECT_EQ(timeOf("14:00+05:00"), "2026-05-02T09:00:00");
}

TEST(PointInTime, MayBeCountedFromToday) {
  EXPECT_EQ(timeOf("today 18:30"), "2026-05-01T16:30:00");
  EXPECT_EQ(timeOf("today 6:00"), "2026-05-01T04:00:00") << "also where that is past";
  EXPECT_EQ(timeOf("tomorrow 6:00"), "2026-05-02T04:00:00");
  EXPECT_EQ(timeOf("tomorrow"), "2026-05-01T22:00:00");
  EXPECT_EQ(timeOf("yesterday 6:00"), "2026-04-30T04:00:00");
  // Which day it is, the zone says: here it is Saturday.
  EXPECT_EQ(timeOf("tomorrow 6:00 Pacific/Auckland"), "2026-05-02T18:00:00");
  EXPECT_EQ(timeOf("tomorrow 6:00", berlinAt("2026-05-01T22:30:00")), "2026-05-03T04:00:00");
}

TEST(PointInTime, MayBeSoLongFromNow) {
  EXPECT_EQ(timeOf("+2h30m"), "2026-05-01T15:30:00");
  EXPECT_EQ(timeOf("+1d", berlinAt("2026-03-28T12:00:00")), "2026-03-29T12:00:00")
      << "24 hours, also that day";
}

// Clocks go from 2:00 to 3:00 that night.
TEST(PointInTime, ATimeThatDoesNotExistIsTheInstantAfterTheGap) {
  const LocalClock eve = berlinAt("2026-03-28T20:00:00");
  EXPECT_EQ(timeOf("2026-03-29 02:30", eve), "2026-03-29T01:00:00");
  EXPECT_EQ(timeOf("tomorrow 2:30", eve), "2026-03-29T01:00:00");
  EXPECT_EQ(timeOf("2:30", eve), "2026-03-29T01:00:00");
  EXPECT_EQ(timeOf("2:30", berlinAt("2026-03-29T01:00:00")), "2026-03-30T00:30:00");
}

// Clocks go from 3:00 back to 2:00 that night.
TEST(PointInTime, OfATimeThatThereIsTwiceItIsTheFirst) {
  EXPECT_EQ(timeOf("2026-10-25 02:30"), "2026-10-25T00:30:00");
  EXPECT_EQ(timeOf("2:30", berlinAt("2026-10-24T20:00:00")), "2026-10-25T00:30:00");
  EXPECT_EQ(timeOf("2:30", berlinAt("2026-10-25T00:45:00")), "2026-10-26T01:30:00");
  EXPECT_EQ(timeOf("2026-10-25T02:30+01:00"), "2026-10-25T01:30:00") << "the second, by its offset";
}

TEST(PointInTime, LookingBackIsTheLastOne) {
  const auto back = [](std::string_view text) { return timeOf(text, kNoon, Looking::kBack); };
  EXPECT_EQ(back("6:00"), "2026-05-01T04:00:00");
  EXPECT_EQ(back("15:00"), "2026-05-01T13:00:00");
  EXPECT_EQ(back("18:30"), "2026-04-30T16:30:00");
  EXPECT_EQ(back("1h30m"), "2026-05-01T11:30:00");
  EXPECT_EQ(back("today"), "2026-04-30T22:00:00");
  EXPECT_EQ(back("2026-04-01"), "2026-03-31T22:00:00");
  EXPECT_EQ(back("tomorrow 6:00"), "'tomorrow 6:00' is in the future; write a time that is past");
  EXPECT_THAT(back("+1h"), HasSubstr("or 2h30m for that long ago"));
}

// As people say it, and as lists show it.
TEST(PointInTime, LookingBackMayBeSoLongAgo) {
  const auto back = [](std::string_view text) { return timeOf(text, kNoon, Looking::kBack); };
  EXPECT_EQ(back("1h ago"), back("1h"));
  EXPECT_EQ(back("2h30m ago"), back("2h30m"));
  EXPECT_EQ(back("5 min ago"), back("5m"));
  EXPECT_EQ(back("2 d ago"), back("2d"));
  EXPECT_EQ(back("3 s ago"), back("3s"));
  EXPECT_THAT(back("soon ago"), HasSubstr("is not a time"));
  EXPECT_THAT(timeOf("1h ago", kNoon, Looking::kAhead), HasSubstr("is not a time"));
}

TEST(PointInTime, RefusesWhatIsNone) {
  for (const char* text : {"",
                           "soon",
                           "now",
                           "2h",
                           "-2h",
                           "6",
                           "6:0",
                           "6:00pm",
                           "6h",
                           "2026-05-01T",
                           "2026-05-01T12",
                           "2026-5-1",
                           "2026-05-01X12:00",
                           "2026-05-01T12:00:00.Z",
                           "2026-05-01T12:00:00.1234567Z",
                           "2026-05-01T12:00:00z",
                           "2026-05-01T12:00ZZ",
                           "tomorrowx",
                           "tomorrow6:00",
                           "T6:00",
                           " 6:00",
                           "12:00:00:00",
                           "123:00",
                           "20260501"}) {
    EXPECT_THAT(timeOf(text), HasSubstr("is not a time; write it such as 2026-05-01 12:34 (local time), "
                                        "2026-05-01T12:34:56Z, 6:00, tomorrow 6:00, or +2h30m"))
        << text;
  }
  EXPECT_EQ(timeOf("2026-02-30"), "'2026-02-30' is no day of the calendar; write one such as 2026-05-01");
  EXPECT_EQ(timeOf("2026-02-29 6:00"),
            "'2026-02-29' is no day of the calendar; write one such as 2026-05-01");
  for (const char* clock : {"24:00", "23:60", "23:59:60"}) {
    EXPECT_EQ(timeOf("2026-05-01 " + std::string(clock) + " Europe/Berlin"),
              "'" + std::string(clock) + "' is no time of day; write one from 0:00 to 23:59:59");
  }
  for (const char* zone : {"+2", "+2:00", "+0200", "+24:00", "+02:60", "+02:00x", "-"}) {
    EXPECT_THAT(timeOf("2026-05-01T12:00" + std::string(zone)),
                HasSubstr("ends with no offset of a time zone; write one such as +02:00"))
        << zone;
  }
  EXPECT_THAT(timeOf("6:00 Europe/Berlni"), HasSubstr("'Europe/Berlni' is no time zone of this machine"));
  EXPECT_THAT(timeOf("6:00 ../../etc/passwd"), HasSubstr("is no time zone; write one such as Europe/Berlin"));
}

TEST(PointInTime, LiesWithinWhatIsKept) {
  EXPECT_EQ(timeOf("2968-12-31"), "2968-12-30T23:00:00");
  for (const char* far : {"1969-12-31", "1970-01-01", "1970-01-01T00:00Z", "0001-01-01", "0000-01-01",
                          "2970-01-01", "9999-12-31T23:59Z"}) {
    EXPECT_THAT(timeOf(far), HasSubstr("is too far away; write a time between the years 1970 and 2968"))
        << far;
  }
  EXPECT_THAT(timeOf("+99999d"), HasSubstr("is too long; write at most 3650d"));
  const LocalClock early{.now = kNever + 1h};
  EXPECT_THAT(timeOf("2h", early, Looking::kBack), HasSubstr("is too far away"));
}

TEST(PointInTime, NeedsTheUsersZoneOnlyWhereNoneIsWritten) {
  const LocalClock lost{.now = kNoon.now, .zone = invalid("no zone")};
  EXPECT_EQ(timeOf("2026-05-01 12:00", lost), "no zone");
  EXPECT_EQ(timeOf("6:00", lost), "no zone");
  EXPECT_EQ(timeOf("2026-05-01 12:00Z", lost), "2026-05-01T12:00:00");
  EXPECT_EQ(timeOf("2026-05-01 12:00 UTC", lost), "2026-05-01T12:00:00");
  EXPECT_EQ(timeOf("2026-05-01 12:00+01:00", lost), "2026-05-01T11:00:00");
  EXPECT_EQ(timeOf("+1h", lost), "2026-05-01T14:00:00");
}

TEST(FormatLocalTime, HasTheOffsetWithIt) {
  const WallTime time = utc("2026-05-01T22:34:56.5");
  EXPECT_EQ(formatLocalTime(time, TimeZone()), "2026-05-01T22:34:56.500000Z");
  EXPECT_EQ(formatLocalTime(time, *TimeZone::named("Europe/Berlin")), "2026-05-02T00:34:56.500000+02:00");
  EXPECT_EQ(formatLocalTime(time, *TimeZone::named("America/St_Johns")), "2026-05-01T20:04:56.500000-02:30");
}

TEST(FormatLocalTime, IsReadAgain) {
  const TimeZone berlin = *TimeZone::named("Europe/Berlin");
  for (WallTime time = utc("2026-10-24T22:00:00"); time < utc("2026-10-25T04:00:00"); time += 10min) {
    EXPECT_EQ(parsePointInTime(formatLocalTime(time, berlin), kNoon).value(), time);
  }
}

}  // namespace tarcil::point_in_time_test
