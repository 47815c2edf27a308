#include <gtest/gtest.h>

#include <set>

#include "core/base/names.h"
#include "core/state/caller.h"
#include "core/state/claim.h"
#include "core/state/job_state.h"
#include "tests/support/builders.h"

namespace tarcil::names_test {

TEST(Names, RunStatesReadBackFromTheirNames) {
  for (int i = 0; i <= static_cast<int>(RunState::kLost); ++i) {
    const auto state = static_cast<RunState>(i);
    EXPECT_EQ(runStateNamed(name(state)), state);
  }
  EXPECT_EQ(name(RunState::kCancelled), "cancelled");
  EXPECT_EQ(runStateNamed("Queued"), std::nullopt);
}

TEST(Names, RolesReadBackFromTheirNames) {
  for (int i = 0; i <= static_cast<int>(Role::kMonitor); ++i) {
    const auto role = static_cast<Role>(i);
    EXPECT_EQ(roleNamed(name(role)), role);
  }
  EXPECT_EQ(roleNamed("root"), std::nullopt);
}

TEST(Names, VerdictsHaveNamesOfTheirOwn) {
  std::set<std::string> names;
  constexpr int kLast = static_cast<int>(Verdict::kNoExtras);
  for (int i = 0; i <= kLast; ++i) names.insert(name(static_cast<Verdict>(i)));
  EXPECT_EQ(names.size(), kLast + 1u);
}

TEST(ConstraintAttributes, HoldWhatTheServerIsEvenIfItsOwnAttributesSayOtherwise) {
  auto server =
      aServer("a").platform("haswell").rack("r1").attribute("gpu", "true").attribute("rack", "forged");
  const auto attributes = constraintAttributes(server.facts());
  EXPECT_EQ(attributes, (std::map<std::string, std::string>{
                            {"gpu", "true"}, {"platform", "haswell"}, {"rack", "r1"}, {"server", "a"}}));
}

TEST(PlainName, FitsPathsAndTables) {
  EXPECT_TRUE(isPlainName("haswell-2.3_a", 13));
  EXPECT_FALSE(isPlainName("haswell-2.3_a", 12));
  for (const char* bad : {"", ".", "..", "-rf", "a/b", "a b", "\u00e4"})
    EXPECT_FALSE(isPlainName(bad, 99)) << bad;
}

TEST(PlainName, ThatIsNoneIsSaidWithoutSteeringATerminal) {
  EXPECT_TRUE(checkName("--name", std::string(128, 'a')));
  const Status bad = checkName("--name", "a\x1b[2Jb");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, ErrorCode::kInvalid);
  EXPECT_TRUE(bad.error().message.starts_with("--name: 'a\\x1b[2Jb' is no name; write "))
      << bad.error().message;
  EXPECT_LT(checkName("--name", std::string(100'000, 'a')).error().message.size(), 300u);
}

}  // namespace tarcil::names_test
