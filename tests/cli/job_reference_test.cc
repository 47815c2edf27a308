#include "cli/job_reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tarcil::job_reference_test {

using testing::HasSubstr;

JobReference parsed(const std::string& text) {
  const auto reference = parseJobReference(text);
  EXPECT_TRUE(reference.ok()) << text;
  return reference ? *reference : JobReference{};
}

TEST(JobReference, DecimalDigitsAreANumber) {
  EXPECT_EQ(parsed("4711").number, 4711u);
  EXPECT_EQ(parsed("1").number, 1u);
  EXPECT_EQ(parsed("12345678").number, 12345678u) << "eight digits of an id are written id:12345678";
  EXPECT_EQ(parsed("18446744073709551615").number, UINT64_MAX);
}

TEST(JobReference, ADotNamesATask) {
  EXPECT_EQ(parsed("4711.3").number, 4711u);
  EXPECT_EQ(parsed("4711.3").task, TaskIndex{3});
  EXPECT_EQ(parsed("3f2a.0").task, TaskIndex{0});
  EXPECT_EQ(parsed("4711").task, std::nullopt);
}

TEST(JobReference, IdsAreToldByTheirMarkOrByALetter) {
  EXPECT_EQ(parsed("3F2A").prefix, "3f2a");
  EXPECT_EQ(parsed("id:4711").prefix, "4711");
  EXPECT_EQ(parsed("id:4711").number, 0u);
  EXPECT_EQ(parsed("00000000000000000000000000004711").prefix, "00000000000000000000000000004711")
      << "a whole id may have decimal digits only";
}

TEST(JobReference, NamesArePatterns) {
  EXPECT_EQ(parsed("name:sort*").name, "sort*");
  EXPECT_EQ(parsed("name:v1.2").name, "v1.2") << "no task";
  EXPECT_EQ(literalPart("sort*"), "sort");
  EXPECT_EQ(literalPart("[ab]c"), "");
  EXPECT_EQ(literalPart("sort"), "sort");
}

TEST(JobReference, WhatIsNoneOfTheseIsRefusedWithWhatToWrite) {
  for (const char* text :
       {"", "0", "0.1", "4711.", "4711.x", "4711.1.2", "sort", "id:", "id:3f2", "id:xyzw", "3f2",
        "name:", "-1", "18446744073709551616", "4711.4294967296", "3f2a3f2a3f2a3f2a3f2a3f2a3f2a3f2a3"}) {
    const auto reference = parseJobReference(text);
    ASSERT_FALSE(reference.ok()) << text;
    EXPECT_THAT(reference.error().message, HasSubstr("write its number, as in 4711")) << text;
  }
}

}  // namespace tarcil::job_reference_test
