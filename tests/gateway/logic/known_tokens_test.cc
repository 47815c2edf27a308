#include "gateway/logic/known_tokens.h"

#include <gtest/gtest.h>

namespace tarcil::gateway::known_tokens_test {

using namespace std::chrono_literals;

const MonotonicTime kNow{100s};
const KnownTokens::Answer kAnns{Caller{.user = "ann", .role = Role::kSubmit, .runAs = {}}, kNow + 1min};
const KnownTokens::Answer kWrong{std::nullopt, kNow + 5s};

TEST(KnownTokens, HoldForTheirTime) {
  KnownTokens known(10);
  known.remember("a", kAnns);
  known.remember("b", kWrong);
  ASSERT_NE(known.at("a", kNow), nullptr);
  EXPECT_EQ(known.at("a", kNow)->caller->user, "ann");
  ASSERT_NE(known.at("b", kNow), nullptr);
  EXPECT_FALSE(known.at("b", kNow)->caller);
  EXPECT_EQ(known.at("b", kNow + 5s), nullptr);
  EXPECT_EQ(known.at("a", kNow + 1min), nullptr);
  EXPECT_EQ(known.at("c", kNow), nullptr);
}

TEST(KnownTokens, OfTooManyTheOneAskedAboutLongestAgoIsForgotten) {
  KnownTokens known(2);
  known.remember("a", kAnns);
  known.remember("b", kAnns);
  known.remember("a", kWrong);  // anew
  known.remember("c", kAnns);
  EXPECT_EQ(known.at("b", kNow), nullptr);
  ASSERT_NE(known.at("a", kNow), nullptr);
  EXPECT_FALSE(known.at("a", kNow)->caller) << "the last answer counts";
  EXPECT_NE(known.at("c", kNow), nullptr);
}

}  // namespace tarcil::gateway::known_tokens_test
