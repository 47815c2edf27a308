#include "identity/logic/join_word.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tarcil::join_word_test {

using testing::HasSubstr;
using namespace std::chrono_literals;

JoinWord wordFor(const std::string& name) {
  JoinWord word{.role = MemberRole::kMonitor, .name = name, .until = WallTime(1'800'000'000s)};
  for (size_t i = 0; i < word.authority.size(); ++i) word.authority[i] = static_cast<uint8_t>(i);
  for (size_t i = 0; i < word.secret.size(); ++i) word.secret[i] = static_cast<uint8_t>(0xa0 + i);
  return word;
}

TEST(JoinWord, IsReadBack) {
  const auto read = parseJoinWord(textOf(wordFor("s7")));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, wordFor("s7"));
}

RC_GTEST_PROP(JoinWord, IsRefusedWithAnyOneCharacterChanged, (uint16_t where, char to)) {
  std::string text = textOf(wordFor("s7"));
  const size_t at = where % text.size();
  RC_PRE(text[at] != to);
  text[at] = to;
  RC_ASSERT(!parseJoinWord(text).ok());
}

RC_GTEST_PROP(JoinWord, IsRefusedWhenCutShort, (uint16_t where)) {
  const std::string text = textOf(wordFor("s7"));
  RC_ASSERT(!parseJoinWord(text.substr(0, where % text.size())).ok());
}

TEST(JoinWord, ThatIsMistypedIsNotShown) {
  std::string text = textOf(wordFor("s7"));
  text[text.size() / 2] ^= 1;
  const auto read = parseJoinWord(text);
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, HasSubstr("mistyped"));
  EXPECT_THAT(read.error().message, testing::Not(HasSubstr("a0a1a2")));
}

TEST(JoinWord, ThatHasExpiredNamesBothTimes) {
  const JoinWord word = wordFor("s7");
  EXPECT_TRUE(checkTime(word, word.until - 1s).ok());
  const Status late = checkTime(word, word.until);
  ASSERT_FALSE(late.ok());
  EXPECT_THAT(late.error().message, HasSubstr("expired at 2027-01-15T08:00:00"));
  EXPECT_THAT(late.error().message, HasSubstr("this machine's clock says"));
}

TEST(IsSameSecret, ComparesAllOfIt) {
  Sha256 a{}, b{};
  EXPECT_TRUE(isSameSecret(a, b));
  b.back() = 1;
  EXPECT_FALSE(isSameSecret(a, b));
  b = a;
  b.front() = 1;
  EXPECT_FALSE(isSameSecret(a, b));
}

}  // namespace tarcil::join_word_test
