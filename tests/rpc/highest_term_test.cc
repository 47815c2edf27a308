#include "rpc/highest_term.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tarcil {

TEST(HighestTerm, TakesNoEarlierOneThanItHasHeardOf) {
  HighestTerm term;
  EXPECT_TRUE(term.take(5, "a:1").ok());
  EXPECT_TRUE(term.take(5, "a:1").ok()) << "the same master again";
  EXPECT_TRUE(term.take(9, "b:1").ok());
  const Status refused = term.take(8, "a:1");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable) << "another master may be tried";
  EXPECT_THAT(refused.error().message, testing::HasSubstr("a:1 answers for term 8"));
  EXPECT_TRUE(term.take(9, "b:1").ok()) << "what was refused changes nothing";
}

TEST(HighestTerm, TakesNoEarlierOneThanOthersHaveTold) {
  HighestTerm term;
  term.hear(7);
  term.hear(3);
  EXPECT_EQ(term.term(), 7u);
  EXPECT_FALSE(term.take(6, "a:1").ok());
  EXPECT_TRUE(term.take(7, "a:1").ok());
}

TEST(HighestTerm, TakesAMasterThatHasNone) {
  HighestTerm term;
  EXPECT_TRUE(term.take(5, "a:1").ok());
  EXPECT_TRUE(term.take(0, "a:1").ok());
}

}  // namespace tarcil
