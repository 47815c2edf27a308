#include "core/base/units.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tarcil::units_test {

using namespace std::chrono_literals;

TEST(ParseSize, ReadsBothFamiliesOfUnits) {
  const std::pair<const char*, uint64_t> cases[] = {
      {"0B", 0},
      {"17B", 17},
      {"1KiB", 1024},
      {"1.5 MiB", 1'572'864},
      {"2GiB", 2ull << 30},
      {"1TiB", 1ull << 40},
      {"1KB", 1000},
      {"1kB", 1000},
      {"3MB", 3'000'000},
      {"1.25GB", 1'250'000'000},
      {"1TB", 1'000'000'000'000},
      {"1048576TiB", kMaxSize},
  };
  for (const auto& [text, bytes] : cases) {
    auto size = parseSize(text);
    ASSERT_TRUE(size.ok()) << size.error().message;
    EXPECT_EQ(*size, bytes) << text;
  }
}

TEST(ParseSize, SaysWhatToWriteInstead) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "'' is not a size; write a number with a unit, for example 100MiB"},
      {"-1B", "'-1B' is not a size; write a number with a unit, for example 100MiB"},
      {"1.MiB", "'1.MiB' is not a size; write a number with a unit, for example 100MiB"},
      {"100", "'100' has no unit; write one of B, KiB, MiB, GiB, TiB behind the number, for example 100MiB"},
      {"2G", "'2G' has an unknown unit; write one of B, KiB, MiB, GiB, TiB or KB, MB, GB, TB"},
      {"2GiB x", "'2GiB x' has an unknown unit; write one of B, KiB, MiB, GiB, TiB or KB, MB, GB, TB"},
      {"1048577TiB", "'1048577TiB' is too large; write at most 1048576TiB"},
      {"99999999999999999999B", "'99999999999999999999B' is too large; write at most 1048576TiB"},
  };
  for (const auto& [text, expected] : cases) {
    auto size = parseSize(text);
    ASSERT_FALSE(size.ok()) << text;
    EXPECT_EQ(size.error(), invalid(expected));
  }
}

TEST(FormatSize, UsesTheLargestUnitThatFits) {
  EXPECT_EQ(formatSize(0), "0B");
  EXPECT_EQ(formatSize(1023), "1023B");
  EXPECT_EQ(formatSize(64ull << 20), "64MiB");
  EXPECT_EQ(formatSize(1'572'864), "1.5MiB");
  EXPECT_EQ(formatSize(5ull << 40), "5TiB");
}

TEST(ParseDuration, ReadsOneOrSeveralUnits) {
  const std::pair<const char*, Duration> cases[] = {
      {"0s", 0s},       {"10s", 10s},
      {"500ms", 500ms}, {"7us", 7us},
      {"10m", 10min},   {"2h", 2h},
      {"1d", 24h},      {"1.5h", 90min},
      {"1m30s", 90s},   {"1d2h3m4s5ms6us", 26h + 3min + 4s + 5ms + 6us},
      {"1 s", 1s},      {"3650d", kMaxDuration},
  };
  for (const auto& [text, expected] : cases) {
    auto duration = parseDuration(text);
    ASSERT_TRUE(duration.ok()) << duration.error().message;
    EXPECT_EQ(*duration, expected) << text;
  }
}

TEST(ParseDuration, SaysWhatToWriteInstead) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "'' is not a duration; write a number with a unit, for example 10s or 500ms"},
      {"soon", "'soon' is not a duration; write a number with a unit, for example 10s or 500ms"},
      {"-3s", "'-3s' is not a duration; write a number with a unit, for example 10s or 500ms"},
      {"10", "'10' has no unit; write one of us, ms, s, m, h, d behind the number, for example 10s"},
      {"10 min", "'10 min' has an unknown unit; write one of us, ms, s, m, h, d"},
      {"30s1m", "'30s1m' has its units out of order; write the larger first, for example 1m30s"},
      {"1s1s", "'1s1s' has its units out of order; write the larger first, for example 1m30s"},
      {"3650d1us", "'3650d1us' is too long; write at most 3650d"},
      {"99999999999999999999s", "'99999999999999999999s' is too long; write at most 3650d"},
  };
  for (const auto& [text, expected] : cases) {
    auto duration = parseDuration(text);
    ASSERT_FALSE(duration.ok()) << text;
    EXPECT_EQ(duration.error(), invalid(expected));
  }
}

TEST(FormatDuration, IsShort) {
  const std::pair<Duration, const char*> cases[] = {
      {0s, "0s"},       {7us, "7us"},          {1500us, "1.5ms"},
      {500ms, "500ms"}, {12'345ms, "12.345s"}, {59'999'999us, "59.999s"},
      {60s, "1m"},      {90s, "1m30s"},        {2h + 59s, "2h"},
      {49h, "2d1h"},    {-3s, "-3s"},
  };
  for (const auto& [duration, expected] : cases) EXPECT_EQ(formatDuration(duration), expected);
  EXPECT_EQ(formatDuration(Duration::min()).front(), '-');
}

RC_GTEST_PROP(FormatDuration, IsReadBackWithinAThousandth, ()) {
  const Duration duration(*rc::gen::inRange<int64_t>(0, kMaxDuration.count()));
  auto again = parseDuration(formatDuration(duration));
  RC_ASSERT(again.ok());
  RC_ASSERT(*again <= duration);
  RC_ASSERT((duration - *again).count() * 16 <= duration.count());
}

TEST(FormatTime, IsIso8601InUtcWithMicroseconds) {
  EXPECT_EQ(formatTime(WallTime{}), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(formatTime(WallTime(1'714'566'896'123'456us)), "2024-05-01T12:34:56.123456Z");
  EXPECT_EQ(formatTime(WallTime(-1us)), "1969-12-31T23:59:59.999999Z");
}

TEST(ParseTime, ReadsWhatFormatTimeWrites) {
  for (const char* text :
       {"2024-05-01T12:34:56.123456Z", "2024-02-29T00:00:00.000000Z", "1969-12-31T23:59:59.999999Z"}) {
    auto time = parseTime(text);
    ASSERT_TRUE(time.ok()) << text;
    EXPECT_EQ(formatTime(*time), text);
  }
  EXPECT_EQ(formatTime(*parseTime("2024-05-01T12:34:56Z")), "2024-05-01T12:34:56.000000Z");
  EXPECT_EQ(formatTime(*parseTime("2024-05-01T12:34:56.5Z")), "2024-05-01T12:34:56.500000Z");
}

TEST(ParseTime, RefusesWhatIsNoTime) {
  for (const char* text :
       {"", "now", "2024-05-01", "2024-05-01T12:34:56", "2024-13-01T12:34:56Z", "2023-02-29T00:00:00Z",
        "2024-05-01T24:00:00Z", "2024-05-01T12:34:56.Z", "2024-05-01T12:34:56.1234567Z",
        "2024-05-01T12:34:56+02:00", "2024-05-01 12:34:56Z", "2o24-05-01T12:34:56Z"}) {
    EXPECT_FALSE(parseTime(text).ok()) << text;
  }
  EXPECT_EQ(parseTime("now").error().message,
            "'now' is not a time; write it as 2024-05-01T12:34:56Z, in UTC");
}

TEST(Units, ThatAreNoneAreSaidWithoutSteeringATerminal) {
  const std::string bad = "\x1b[2J" + std::string(100'000, 'x');
  for (const std::string& message :
       {parseSize(bad).error().message, parseDuration(bad).error().message, parseTime(bad).error().message}) {
    EXPECT_TRUE(message.starts_with("'\\x1b[2Jxxx")) << message;
    EXPECT_LT(message.size(), 200u);
  }
}

TEST(FormatRelative, NamesTheLargestUnit) {
  const WallTime now(1'000'000s);
  EXPECT_EQ(formatRelative(now, now), "now");
  EXPECT_EQ(formatRelative(now - 999ms, now), "now");
  EXPECT_EQ(formatRelative(now - 1s, now), "1 s ago");
  EXPECT_EQ(formatRelative(now - 200s, now), "3 min ago");
  EXPECT_EQ(formatRelative(now + 2h, now), "in 2 h");
  EXPECT_EQ(formatRelative(now - 73h, now), "3 d ago");
}

}  // namespace tarcil::units_test
