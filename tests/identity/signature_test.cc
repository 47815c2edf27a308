#include "identity/signature.h"

#include <gtest/gtest.h>

namespace tarcil::signature_test {

TEST(Signature, IsOfOneTextAndOneKey) {
  const SigningKey key, other;
  ASSERT_NE(key.publicKey(), other.publicKey());
  const std::string signature = key.sign("text");
  EXPECT_EQ(signature.size(), 64u);
  EXPECT_TRUE(isSignatureOf("text", key.publicKey(), signature));
  EXPECT_FALSE(isSignatureOf("texts", key.publicKey(), signature));
  EXPECT_FALSE(isSignatureOf("text", other.publicKey(), signature));
  EXPECT_FALSE(isSignatureOf("text", key.publicKey(), other.sign("text")));
  EXPECT_FALSE(isSignatureOf("text", key.publicKey(), ""));
  EXPECT_FALSE(isSignatureOf("text", key.publicKey(), signature + "x"));
  std::string changed = signature;
  changed[63] = static_cast<char>(changed[63] ^ 1);
  EXPECT_FALSE(isSignatureOf("text", key.publicKey(), changed));
}

// RFC 8032, 7.1, TEST 1: of no text.
TEST(Signature, IsThatOfTheStandard) {
  const PublicKey key{0xd7, 0x5a, 0x98, 0x01, 0x82, 0xb1, 0x0a, 0xb7, 0xd5, 0x4b, 0xfe,
                      0xd3, 0xc9, 0x64, 0x07, 0x3a, 0x0e, 0xe1, 0x72, 0xf3, 0xda, 0xa6,
                      0x23, 0x25, 0xaf, 0x02, 0x1a, 0x68, 0xf7, 0x07, 0x51, 0x1a};
  constexpr char kSignature[] =
      "\xe5\x56\x43\x00\xc3\x60\xac\x72\x90\x86\xe2\xcc\x80\x6e\x82\x8a\x84\x87\x7f\x1e\xb8\xe5\xd9\x74\xd8"
      "\x73\xe0\x65\x22\x49\x01\x55\x5f\xb8\x82\x15\x90\xa3\x3b\xac\xc6\x1e\x39\x70\x1c\xf9\xb4\x6b\xd2\x5b"
      "\xf5\xf0\x59\x5b\xbe\x24\x65\x51\x41\x43\x8e\x7a\x10\x0b";
  const std::string signature(kSignature, 64);
  EXPECT_TRUE(isSignatureOf("", key, signature));
  EXPECT_FALSE(isSignatureOf(" ", key, signature));
}

}  // namespace tarcil::signature_test
