#include "monitor/logic/performance/metric_text.h"

#include <gtest/gtest.h>

namespace tarcil::metric_text_test {

std::string problemOf(std::string_view text) {
  const auto value = metricIn(text);
  return value ? "" : value.error().message;
}

TEST(MetricText, IsAValueOrANameAndAValue) {
  EXPECT_EQ(**metricIn("1234.5\n"), 1234.5);
  EXPECT_EQ(**metricIn("ops 1.2e9"), 1.2e9);
  EXPECT_EQ(**metricIn("  ops\t7 \r\n"), 7);
  EXPECT_EQ(**metricIn("0"), 0);
}

TEST(MetricText, TheLastLineCounts) {
  EXPECT_EQ(**metricIn("ops 1\nops 2\n\n"), 2);
}

TEST(MetricText, NothingIsNoValueAndNoProblem) {
  EXPECT_EQ(*metricIn(""), std::nullopt);
  EXPECT_EQ(*metricIn("\n \n"), std::nullopt);
}

TEST(MetricText, NamesTheLineThatIsWrongAndRepeatsNothingOfIt) {
  for (const char* wrong :
       {"fast", "1 2 3", "ops -5", "ops nan", "ops inf", "1e999", "0x10", "7ops", "5,3"}) {
    EXPECT_EQ(problemOf(std::string("1\n") + wrong), "line 2: neither VALUE nor NAME VALUE") << wrong;
  }
  EXPECT_EQ(problemOf(std::string(5000, '1')), "longer than 4096 bytes");
  EXPECT_NE(problemOf(std::string("1\0002", 3)), "");
}

}  // namespace tarcil::metric_text_test
