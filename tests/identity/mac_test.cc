#include "identity/mac.h"

#include <gtest/gtest.h>

namespace tarcil::mac_test {

TEST(Mac, IsOfOneTextAndOneKey) {
  const MacKey key = makeMacKey(), other = makeMacKey();
  ASSERT_NE(key, other);
  EXPECT_TRUE(isMacOf("text", key, macOf("text", key)));
  EXPECT_FALSE(isMacOf("texts", key, macOf("text", key)));
  EXPECT_FALSE(isMacOf("text", other, macOf("text", key)));
  EXPECT_FALSE(isMacOf("text", key, ""));
  EXPECT_FALSE(isMacOf("text", key, macOf("text", key) + "x"));
}

// RFC 4231, 4.3, of which the key is padded with zeros here, as the algorithm does.
TEST(Mac, IsThatOfTheStandard) {
  MacKey key{'J', 'e', 'f', 'e'};
  const std::string mac = macOf("what do ya want for nothing?", key);
  ASSERT_EQ(mac.size(), 32u);
  EXPECT_EQ(static_cast<uint8_t>(mac[0]), 0x5b);
  EXPECT_EQ(static_cast<uint8_t>(mac[1]), 0xdc);
  EXPECT_EQ(static_cast<uint8_t>(mac[31]), 0x43);
}

}  // namespace tarcil::mac_test
