#include "schema/measurement_text.h"

#include <gtest/gtest.h>

namespace tarcil::measurement_text_test {

TEST(MeasurementText, ComesBackAsItWasWritten) {
  const Measurement measured{{}, "sort: not found\n\tin \"PATH\""};
  const auto read = parseMeasurement(textOf(measured));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, measured);
}

TEST(MeasurementText, HasNoControlCharacters) {
  const auto read = parseMeasurement(textOf(Measurement{{}, "\x1b[2Jgone"}));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->problem, " [2Jgone");
  for (const char* text : {"{\"problem\":\"\x1b[2Jgone\"}", "{\"problem\":\"\\u001b[2Jgone\"}"}) {
    const auto refused = parseMeasurement(text);
    ASSERT_FALSE(refused.ok()) << text;
    EXPECT_EQ(refused.error().message, "it has control characters");
  }
}

}  // namespace tarcil::measurement_text_test
