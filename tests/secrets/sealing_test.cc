#include "secrets/sealing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tarcil::sealing_test {

using testing::HasSubstr;
using testing::Not;

const std::string kFirst(64, 'a'), kSecond(64, 'b'), kThird(64, 'c');

SecretKeys keysOf(const std::string& text) {
  auto keys = SecretKeys::parse(text);
  EXPECT_TRUE(keys.ok()) << keys.error().message;
  return keys.ok() ? *keys : SecretKeys();
}

SecretRecord sealed(const SecretKeys& keys, const std::string& value = "hunter2",
                    const std::string& owner = "ann", const std::string& name = "db") {
  SecretRecord secret{.owner = owner, .name = name};
  secret.value = keys.seal(owner, name, SecretBytes(std::string_view(value)));
  return secret;
}

std::string opened(const SecretKeys& keys, const SecretRecord& secret) {
  const auto value = keys.open(secret);
  return value ? std::string(value->text()) : std::string(name(value.error().code));
}

TEST(Sealing, IsUndoneByTheSameKeyOnly) {
  const SecretKeys keys = keysOf(kFirst), others = keysOf(kSecond);
  for (const std::string& value :
       {std::string("hunter2"), std::string("a\0b\n", 4), std::string(64 << 10, 'x')}) {
    const SecretRecord secret = sealed(keys, value);
    EXPECT_EQ(opened(keys, secret), value);
    EXPECT_EQ(opened(others, secret), "Conflict");
    EXPECT_EQ(secret.value.bytes.size(), value.size() + SealedValue::kTagBytes);
  }
  EXPECT_THAT(others.open(sealed(keys)).error().message,
              testing::AllOf(HasSubstr("'ann/db'"), HasSubstr(keys.current()), HasSubstr(others.current())));
  EXPECT_EQ(opened(SecretKeys(), sealed(keys)), "Conflict") << "a master without a key";
}

TEST(Sealing, LeavesNothingOfTheValueToBeSeenAndNeverComesOutAlike) {
  const SecretKeys keys = keysOf(kFirst);
  const SecretRecord one = sealed(keys), other = sealed(keys);
  EXPECT_THAT(one.value.bytes, Not(HasSubstr("hunter2")));
  EXPECT_NE(one.value.nonce, other.value.nonce);
  EXPECT_NE(one.value.bytes, other.value.bytes);
  EXPECT_THAT(kFirst, Not(HasSubstr(one.value.key)));
}

TEST(Sealing, NoticesWhateverWasChanged) {
  const SecretKeys keys = keysOf(kFirst);
  const SecretRecord whole = sealed(keys);
  for (size_t i = 0; i < whole.value.bytes.size(); ++i) {
    SecretRecord changed = whole;
    changed.value.bytes[i] = static_cast<char>(changed.value.bytes[i] ^ 1);
    EXPECT_EQ(opened(keys, changed), "Internal") << i;
  }
  SecretRecord changed = whole;
  changed.value.nonce[3] ^= 1;
  EXPECT_EQ(opened(keys, changed), "Internal");
  for (const size_t size : {size_t{0}, SealedValue::kTagBytes - 1, SealedValue::kTagBytes}) {
    changed = whole;
    changed.value.bytes.resize(size);
    EXPECT_EQ(opened(keys, changed), "Internal") << size;
  }
}

// So that whoever can write to the store cannot have a job find another one's value.
TEST(Sealing, IsOfOneSecretOfOneUser) {
  const SecretKeys keys = keysOf(kFirst);
  for (const auto& [owner, name] :
       {std::pair("bob", "db"), std::pair("ann", "tls"), std::pair("an", "ndb")}) {
    SecretRecord moved = sealed(keys);
    moved.owner = owner;
    moved.name = name;
    EXPECT_EQ(opened(keys, moved), "Internal") << owner << "/" << name;
  }
}

TEST(SecretKeys, AreTheOneThatSealsAndTheOneBeforeIt) {
  const SecretKeys before = keysOf(kFirst),
                   now = keysOf("# the new one\n" + kSecond + "\n\n" + kFirst + "\r\n");
  EXPECT_EQ(opened(now, sealed(before)), "hunter2");
  EXPECT_EQ(opened(before, sealed(now)), "Conflict");
  EXPECT_TRUE(now.has(before.current()));
  EXPECT_NE(now.current(), before.current());
}

TEST(SecretKeys, AreThirtyTwoBytesAsHexadecimalDigitsOrBase64) {
  const SecretKeys hex = keysOf(std::string(64, '0'));
  EXPECT_EQ(keysOf(std::string(43, 'A') + "=").current(), hex.current());
  EXPECT_NE(keysOf(std::string(SecretKeys::newFile().text())).current(),
            keysOf(std::string(SecretKeys::newFile().text())).current());
}

TEST(SecretKeys, ThatAreNoneAreSaidByTheirLineAndNotShown) {
  for (const auto& [text, said] : {std::pair(std::string(), "1: there is no key"),
                                   {"# nothing\n", "1: there is no key"},
                                   {"secret\n", "1: is no key"},
                                   {kFirst + "\n" + kSecond.substr(1) + "\n", "2: is no key"},
                                   {std::string(44, 'A'), "1: is no key"},
                                   {std::string(42, 'A') + "==", "1: is no key"},
                                   {kFirst + "\n" + kSecond + "\n" + kThird, "3: is a third key"}}) {
    const auto keys = SecretKeys::parse(text);
    ASSERT_FALSE(keys.ok()) << text;
    EXPECT_THAT(keys.error().message, HasSubstr(said));
    EXPECT_THAT(keys.error().message,
                Not(testing::AnyOf(HasSubstr("secret"), HasSubstr("bbb"), HasSubstr("AAA"))));
  }
}

// --- Memory

TEST(SecretBytes, AreOverwrittenAndCopiedByThemselves) {
  SecretBytes value(std::string_view("hunter2"));
  const SecretBytes copy = value;
  overwrite(value.bytes());
  EXPECT_EQ(value.text(), std::string_view("\0\0\0\0\0\0\0", 7));
  EXPECT_EQ(copy.text(), "hunter2");
  value = copy;
  EXPECT_EQ(value, copy);
}

}  // namespace tarcil::sealing_test
