#include "profiler/metric_lines.h"

#include <gtest/gtest.h>

namespace tarcil::metric_lines_test {

std::optional<double> metricIn(std::string_view text, const char* name = "ops/s") {
  MetricLines lines(name);
  lines.take(text, 1);
  lines.end(2);
  return lines.meanSince(0);
}

TEST(MetricLines, FindNumbersBehindTheName) {
  EXPECT_EQ(metricIn("ops/s: 12.5\n"), 12.5);
  EXPECT_EQ(metricIn("ops/s=3\n"), 3);
  EXPECT_EQ(metricIn("noise\nops/s 1e3 (of 7)\nops/s\t500\n"), 750);
  EXPECT_EQ(metricIn("ops/s 4"), 4);  // no newline at the end
}

TEST(MetricLines, PassOverWhatIsNone) {
  for (const char* text :
       {"", "ops/s", "ops/s: fast\n", "my ops/s: 3\n", "ops/s9\n", "ops/s: inf\n", "ops/s: nan\n"}) {
    EXPECT_FALSE(metricIn(text)) << text;
  }
}

TEST(MetricLines, JoinPieces) {
  MetricLines lines("rate");
  lines.take("ra", 1);
  lines.take("te: 1", 2);
  lines.take("7\nrate: 3\n", 3);
  EXPECT_EQ(lines.samples(), 2u);
  EXPECT_EQ(lines.meanSince(3), 10);
}

TEST(MetricLines, CanLeaveOutTheBeginning) {
  MetricLines lines("r");
  lines.take("r 1\n", 1);
  lines.take("r 3\n", 2);
  EXPECT_EQ(lines.meanSince(1.5), 3);
  EXPECT_FALSE(lines.meanSince(2.5));
}

TEST(MetricLines, CountTheLastOfManyToo) {
  MetricLines lines("r");
  for (int i = 0; i < 200'000; ++i) lines.take("r 1\n", 0.1);
  lines.take("r 9\n", 1);
  EXPECT_EQ(lines.meanSince(0.5), 9);
}

TEST(MetricLines, StayBoundedWhateverComes) {
  MetricLines lines("r");
  const std::string megabyte(1 << 20, 'r');
  for (int i = 0; i < 64; ++i) lines.take(megabyte, i);
  lines.take("\nr 5\n", 70);
  EXPECT_EQ(lines.meanSince(0), 5);
}

}  // namespace tarcil::metric_lines_test
