// Texts that only those with the same key can have made.
#include "gateway/server/seal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "rpc/token.h"
#include "tests/support/scratch_folder.h"

namespace tarcil::gateway::seal_test {

TEST(Seals, AreOpenedWithTheSameKeyAlone) {
  const Seal::Key key = Seal::randomKey();
  const std::string sealed = Seal(key).sealed("a secret");
  EXPECT_EQ(Seal(key).opened(sealed), "a secret");
  EXPECT_EQ(Seal(Seal::randomKey()).opened(sealed), std::nullopt);
}

TEST(Seals, AreOfLettersThatAddressesAndCookiesHave) {
  const Seal seal(Seal::randomKey());
  for (size_t size = 0; size < 100; ++size) {
    const std::string sealed = seal.sealed(std::string(size, '\xff'));
    EXPECT_TRUE(std::ranges::all_of(sealed, [](unsigned char letter) {
      return std::isalnum(letter) != 0 || letter == '-' || letter == '_';
    })) << sealed;
    EXPECT_EQ(seal.opened(sealed), std::string(size, '\xff'));
  }
}

TEST(Seals, OfTheSameTextDiffer) {
  const Seal seal(Seal::randomKey());
  EXPECT_NE(seal.sealed("text"), seal.sealed("text"));
}

TEST(Seals, AreBrokenByAnyChange) {
  const Seal seal(Seal::randomKey());
  const std::string sealed = seal.sealed("a secret");
  for (size_t i = 0; i < sealed.size(); ++i) {
    std::string changed = sealed;
    changed[i] = changed[i] == 'A' ? 'Q' : 'A';
    EXPECT_NE(seal.opened(changed), "a secret") << i;
    EXPECT_EQ(seal.opened(sealed.substr(0, i)), std::nullopt) << i;
  }
  for (const char* text : {"", "A", "not letters!", "++++", "\n"})
    EXPECT_EQ(seal.opened(text), std::nullopt) << text;
  EXPECT_EQ(seal.opened(std::string(100'000, 'A')), std::nullopt);
}

TEST(Keys, AreReadFromAFileOfTheirOwner) {
  ScratchFolder folder;
  const std::string digits(64, 'a');
  ASSERT_TRUE(writeTokenFile(folder.at("key"), digits).ok());
  const auto key = Seal::readKey(folder.at("key"));
  ASSERT_TRUE(key);
  EXPECT_EQ(key->front(), 0xaa);
}

TEST(Keys, ThatAreNoneAreRefusedWithWhatToWrite) {
  ScratchFolder folder;
  for (const char* const text : {"abc", "xyz"}) {
    ASSERT_TRUE(writeTokenFile(folder.at("key"), text).ok());
    const auto key = Seal::readKey(folder.at("key"));
    ASSERT_FALSE(key);
    EXPECT_THAT(key.error().message, testing::HasSubstr("openssl rand -hex 32"));
  }
  EXPECT_FALSE(Seal::readKey(folder.at("missing")));
}

}  // namespace tarcil::gateway::seal_test
