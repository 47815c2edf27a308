#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/base/hex.h"
#include "identity/logic/identity.h"

namespace tarcil::identity_names_test {

using testing::HasSubstr;

TEST(CommonName, IsReadBackAndNothingElseIs) {
  const Identity monitor{MemberRole::kMonitor, "s7.example.org", 0x0123456789abcdef};
  EXPECT_EQ(commonName(monitor), "monitor/s7.example.org/0123456789abcdef");
  EXPECT_EQ(parseIdentity(commonName(monitor)), monitor);
  for (const char* wrong :
       {"", "monitor", "monitor/s7", "monitor//0123456789abcdef", "monitor/s7/", "monitor/s7/0123456789abcde",
        "monitor/s7/0123456789ABCDEF", "monitor/s7/0123456789abcdef ", "Monitor/s7/0123456789abcdef",
        "user/s7/0123456789abcdef", "monitor/s7/x/0123456789abcdef", "monitor/-s7/0123456789abcdef",
        "monitor/s7/0000000000000000", "agent/a*/0123456789abcdef", "monitor/*/0123456789abcdef",
        "monitor/a*b/0123456789abcdef"}) {
    EXPECT_FALSE(parseIdentity(wrong)) << wrong;
  }
}

RC_GTEST_PROP(CommonName, IsReadAsNothingOrAsWhatWritesIt, (const std::string& text)) {
  const auto identity = parseIdentity(text);
  if (identity) RC_ASSERT(commonName(*identity) == text);
}

RC_GTEST_PROP(Hex, OfANumberIsReadBack, (uint64_t number)) {
  RC_ASSERT(numberInHex(hexOf(number)) == number);
}

TEST(MayBeCalled, ItsOwnNameOrThoseThatAMonitorOfManyStandsFor) {
  const Identity one{MemberRole::kMonitor, "s7", 1}, many{MemberRole::kMonitor, "rack7-*", 1};
  EXPECT_TRUE(mayBeCalled(one, "s7"));
  EXPECT_FALSE(mayBeCalled(one, "s77"));
  EXPECT_FALSE(mayBeCalled(one, ""));
  EXPECT_TRUE(mayBeCalled(many, "rack7-12"));
  EXPECT_FALSE(mayBeCalled(many, "rack8-12"));
  EXPECT_FALSE(mayBeCalled(many, "rack7"));
}

TEST(MemberName, IsCheckedAsNamesAreAndAStarIsForMonitors) {
  EXPECT_TRUE(checkMemberName("--name", MemberRole::kMonitor, "rack7-*").ok());
  EXPECT_TRUE(checkMemberName("--name", MemberRole::kAgent, "a1").ok());
  EXPECT_THAT(checkMemberName("--name", MemberRole::kMonitor, "a*b").error().message,
              HasSubstr("a star stands at its end"));
  EXPECT_THAT(checkMemberName("--name", MemberRole::kAgent, "a*").error().message,
              HasSubstr("--name: 'a*' is no name"));
}

}  // namespace tarcil::identity_names_test
