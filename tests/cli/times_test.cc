// Times as users give and read them, each by their own clock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/units.h"
#include "tests/cli/running_tarcil.h"
#include "tests/support/scratch_folder.h"

namespace tarcil::times_test {

using testing::HasSubstr;

class TimesTest : public testing::Test {
 protected:
  TimesTest() { folder_.write("job.yaml", "command: [\"true\"]\n"); }

  // By a user whose time zone this is.
  ProcessResult in(const std::string& zone, const Words& words) const {
    Environment environment = cluster_.environment();
    environment["TZ"] = zone;
    return tarcil(words, environment);
  }
  // On a machine without tzdata.
  ProcessResult withoutZones(const std::string& zone, const Words& words) const {
    Environment environment = cluster_.environment();
    environment["TZ"] = zone;
    environment["TZDIR"] = folder_.at("nothing");
    return tarcil(words, environment);
  }
  Words submitAfter(const std::string& time) const {
    return {"submit", "--start-after", time, folder_.at("job.yaml")};
  }
  WallTime startOfLast() const { return cluster_.record().submitted.back().startAfter; }

  ScratchFolder folder_;
  ScriptedCluster cluster_{[] {
    ClusterScript script;
    script.jobs = {aJob(idOf(1), RunState::kRunning)};
    return script;
  }()};
};

TEST_F(TimesTest, AJobStartsByTheClockOfWhoSubmitsIt) {
  const std::string time = "2099-07-01 12:00";
  ASSERT_EQ(in("Europe/Berlin", submitAfter(time)).exitCode, 0);
  EXPECT_EQ(startOfLast(), parseTime("2099-07-01T10:00:00Z").value());
  ASSERT_EQ(in("America/New_York", submitAfter(time)).exitCode, 0);
  EXPECT_EQ(startOfLast(), parseTime("2099-07-01T16:00:00Z").value());
  ASSERT_EQ(in("America/New_York", submitAfter(time + " Asia/Tokyo")).exitCode, 0);
  EXPECT_EQ(startOfLast(), parseTime("2099-07-01T03:00:00Z").value());

  folder_.write("job.yaml", "command: [\"true\"]\nstart_after: " + time + "\n");
  ASSERT_EQ(in("Europe/Berlin", {"submit", folder_.at("job.yaml")}).exitCode, 0);
  EXPECT_EQ(startOfLast(), parseTime("2099-07-01T10:00:00Z").value());
}

TEST_F(TimesTest, JobsAreListedSinceATimeByTheUsersClock) {
  ASSERT_EQ(in("Europe/Berlin", {"job", "list", "--since", "2026-05-01"}).exitCode, 0);
  EXPECT_EQ(cluster_.record().listedSince, parseTime("2026-04-30T22:00:00Z").value());
  const ProcessResult future = in("Europe/Berlin", {"job", "list", "--since", "2099-05-01"});
  EXPECT_EQ(future.exitCode, 2);
  EXPECT_THAT(future.err, HasSubstr("--since: '2099-05-01' is in the future"));
}

TEST_F(TimesTest, ShownInFullTheyAreOfTheUsersClock) {
  for (const Words& words : {Words{"job", "status", "--verbose", "1"}, Words{"job", "list", "--verbose"}}) {
    EXPECT_THAT(in("Europe/Berlin", words).out, HasSubstr("2023-11-14T23:13:20.123456+01:00"));
    EXPECT_THAT(in("America/St_Johns", words).out, HasSubstr("2023-11-14T18:43:20.123456-03:30"));
    EXPECT_THAT(in("UTC", words).out, HasSubstr("2023-11-14T22:13:20.123456Z"));
    EXPECT_THAT(withoutZones("Europe/Berlin", words).out, HasSubstr("2023-11-14T22:13:20.123456Z"));
  }
  const Json json = jsonOf(in("Europe/Berlin", {"job", "status", "--json", "--verbose", "1"}));
  EXPECT_EQ(json["submitted"], "2023-11-14T22:13:20.123456Z");
}

TEST_F(TimesTest, WithoutATimeZoneDatabaseTimesNeedTheirZone) {
  for (const char* time : {"tomorrow 6:00", "2099-07-01 12:00", "2099-07-01 12:00 Asia/Tokyo"}) {
    const ProcessResult refused = withoutZones("Europe/Berlin", submitAfter(time));
    EXPECT_EQ(refused.exitCode, 2) << time;
    EXPECT_THAT(refused.err, HasSubstr("this machine has no time zones in " + folder_.at("nothing") +
                                       "; install the package tzdata, or write the time with its zone"));
  }
  EXPECT_TRUE(cluster_.record().submitted.empty());
  for (const char* time : {"2099-07-01T12:00Z", "2099-07-01 14:00+02:00", "2099-07-01 12:00 UTC"}) {
    const ProcessResult taken = withoutZones("Europe/Berlin", submitAfter(time));
    ASSERT_EQ(taken.exitCode, 0) << time << ": " << taken.err;
    EXPECT_EQ(startOfLast(), parseTime("2099-07-01T12:00:00Z").value());
  }
  EXPECT_EQ(withoutZones("Europe/Berlin", submitAfter("+1h")).exitCode, 0);
  EXPECT_EQ(withoutZones("UTC", submitAfter("2099-07-01 12:00")).exitCode, 0);
}

TEST_F(TimesTest, AnUnknownZoneIsRefusedWithWhereItIsFrom) {
  const ProcessResult wrong = in("Europe/Berlni", submitAfter("6:00"));
  EXPECT_EQ(wrong.exitCode, 2);
  EXPECT_THAT(wrong.err,
              HasSubstr("--start-after: the environment variable TZ: 'Europe/Berlni' is no time zone"));
}

}  // namespace tarcil::times_test
