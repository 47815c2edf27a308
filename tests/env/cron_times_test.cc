// Schedules by the clocks of real places (core/model/cron_schedule.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/units.h"
#include "core/model/cron_schedule.h"
#include "env/time_zone.h"

namespace tarcil::cron_times_test {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> timesIn(const std::string& zoneName, const std::string& schedule,
                                 const std::string& after, size_t count) {
  const auto zone = systemTimeZones().named(zoneName);
  const auto parsed = parseCronSchedule(schedule);
  std::vector<std::string> found;
  auto next = nextTime(*parsed, **zone, parseTime(after + ":00Z").value());
  for (; next && found.size() < count; next = nextTime(*parsed, **zone, *next))
    found.push_back(formatTime(*next).substr(0, 16));
  return found;
}

TEST(CronTimes, FollowTheClockOfThePlace) {
  EXPECT_THAT(timesIn("Europe/Berlin", "0 6 * * *", "2026-03-28T00:00", 3),
              ElementsAre("2026-03-28T05:00", "2026-03-29T04:00", "2026-03-30T04:00"));
  EXPECT_THAT(timesIn("Asia/Kathmandu", "@daily", "2026-05-01T00:00", 1), ElementsAre("2026-05-01T18:15"));
}

TEST(CronTimes, WhereClocksArePutForwardAndBack) {
  EXPECT_THAT(timesIn("Europe/Berlin", "30 2 * * *", "2026-03-28T12:00", 2),
              ElementsAre("2026-03-29T01:00", "2026-03-30T00:30"));
  EXPECT_THAT(timesIn("Europe/Berlin", "30 2 * * *", "2026-10-24T12:00", 2),
              ElementsAre("2026-10-25T00:30", "2026-10-26T01:30"));
  EXPECT_THAT(timesIn("Australia/Lord_Howe", "15 2 * * *", "2026-10-03T00:00", 1),
              ElementsAre("2026-10-03T15:30"));
  EXPECT_THAT(timesIn("Pacific/Apia", "0 12 30 12 *", "2011-12-01T00:00", 1), ElementsAre("2011-12-30T10:00"))
      << "a day that was left out";
}

TEST(CronTimes, AZoneThatIsNoneIsRefused) {
  const auto zone = systemTimeZones().named("Europe/Atlantis");
  ASSERT_FALSE(zone.ok());
  EXPECT_THAT(zone.error().message, HasSubstr("Europe/Atlantis"));
}

TEST(CronTimes, TheZoneOfAUserHasAName) {
  EXPECT_EQ(zoneNameOfUser("America/Havana").value(), "America/Havana");
  EXPECT_EQ(zoneNameOfUser(":Europe/Berlin").value(), "Europe/Berlin");
  EXPECT_EQ(zoneNameOfUser("").value(), "UTC");
  EXPECT_EQ(zoneNameOfUser("/usr/share/zoneinfo/Europe/Rome").value(), "Europe/Rome");
  EXPECT_FALSE(zoneNameOfUser("Nowhere/Land").ok());
}

}  // namespace tarcil::cron_times_test
