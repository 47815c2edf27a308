#include "core/base/text.h"

#include <gtest/gtest.h>

namespace tarcil::text_test {

TEST(Utf8Length, KnowsTheShortestFormOnly) {
  EXPECT_EQ(utf8Length("a"), 1u);
  EXPECT_EQ(utf8Length("\u00e4"), 2u);
  EXPECT_EQ(utf8Length("\u20ac"), 3u);
  EXPECT_EQ(utf8Length("\U0001f600"), 4u);
  for (const char* bad : {"\x80", "\xc0\x80", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
                          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
    EXPECT_EQ(utf8Length(bad), 0u) << bad;
  }
  EXPECT_EQ(utf8Length(""), 0u);
}

TEST(IsPrintable, RefusesControlCharactersAndForeignBytes) {
  EXPECT_TRUE(isPrintable("gr\u00fc\u00df dich"));
  EXPECT_FALSE(isPrintable("a\tb"));
  EXPECT_FALSE(isPrintable("a\x7f"));
  EXPECT_FALSE(isPrintable("\u0085"));
  EXPECT_FALSE(isPrintable("\xff"));
}

TEST(Shown, EscapesAndClips) {
  EXPECT_EQ(shown("a b"), "'a b'");
  EXPECT_EQ(shown("a\n\xff"), "'a\\x0a\\xff'");
  EXPECT_EQ(shown(std::string(60, 'x')), "'" + std::string(60, 'x') + "'");
  EXPECT_EQ(shown(std::string(61, 'x')), "'" + std::string(60, 'x') + "...'");
}

TEST(DidYouMean, FindsSlipsOnly) {
  EXPECT_EQ(didYouMean("priorty", {"name", "priority"}), "did you mean priority? ");
  EXPECT_EQ(didYouMean("env2", {"env", "user"}), "did you mean env? ");
  EXPECT_EQ(didYouMean("x", {"env", "user"}), "");
  EXPECT_EQ(didYouMean("memory", {"network"}), "");
  EXPECT_EQ(didYouMean(std::string(100'000, 'x'), {"env"}), "");
}

}  // namespace tarcil::text_test
