#include "secrets/logic/secret_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/model/task_secret.h"

namespace tarcil::secret_table_test {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr WallTime kNow{std::chrono::hours(1)};

SealedValue valueOf(size_t bytes, char letter = 'x') {
  SealedValue value;
  value.key = "k";
  value.bytes = std::string(bytes + SealedValue::kTagBytes, letter);
  return value;
}

std::string userOf(size_t number) {
  return "u" + std::to_string(number);
}

class Secrets : public testing::Test {
 protected:
  Result<SecretRecord> put(const std::string& owner, const std::string& name, size_t bytes = 7) {
    return secrets_.put({owner, name}, valueOf(bytes), kNow);
  }
  bool isUsable(const std::string& reference, const std::string& user, const std::string& application = "") {
    return secrets_.usable(reference, user, application).ok();
  }
  std::string whyNot(const std::string& reference, const std::string& user,
                     const std::string& application = "") {
    const auto secret = secrets_.usable(reference, user, application);
    return secret ? "" : secret.error().message;
  }

  SecretTable secrets_;
};

TEST_F(Secrets, AreTheirOwnersAndWhomTheyAreGrantedTo) {
  ASSERT_TRUE(put("ann", "db").ok());
  EXPECT_TRUE(isUsable("db", "ann", "anything"));
  EXPECT_TRUE(isUsable("ann/db", "ann"));
  EXPECT_FALSE(isUsable("db", "bob")) << "bob has none of that name";
  EXPECT_FALSE(isUsable("ann/db", "bob"));
  ASSERT_TRUE(secrets_.grant({"ann", "db"}, {"bob", ""}).ok());
  EXPECT_TRUE(isUsable("ann/db", "bob"));
  EXPECT_FALSE(isUsable("ann/db", "eve"));
  EXPECT_FALSE(isUsable("db", "bob"));
  ASSERT_TRUE(secrets_.revoke({"ann", "db"}, {"bob", ""}).ok());
  EXPECT_FALSE(isUsable("ann/db", "bob"));
}

TEST_F(Secrets, AreGrantedToApplicationsOfOneUserOrOfAll) {
  ASSERT_TRUE(put("ann", "db").ok());
  ASSERT_TRUE(secrets_.grant({"ann", "db"}, {"bob", "logreg"}).ok());
  EXPECT_TRUE(isUsable("ann/db", "bob", "logreg"));
  EXPECT_FALSE(isUsable("ann/db", "bob", "other"));
  EXPECT_FALSE(isUsable("ann/db", "bob"));
  EXPECT_FALSE(isUsable("ann/db", "eve", "logreg"));
  ASSERT_TRUE(secrets_.grant({"ann", "db"}, {"", "etl"}).ok());
  EXPECT_TRUE(isUsable("ann/db", "eve", "etl"));
  EXPECT_FALSE(secrets_.grant({"ann", "db"}, {}).ok()) << "to everybody for everything";
}

// Whoever may not use a secret does not learn whether it is there.
TEST_F(Secrets, ThatAreNotThereLookLikeThoseThatAreNotGranted) {
  const std::string before = whyNot("ann/db", "bob", "etl");
  EXPECT_THAT(before, HasSubstr("'ann/db' is not there, or not granted to bob for application etl"));
  ASSERT_TRUE(put("ann", "db").ok());
  EXPECT_EQ(whyNot("ann/db", "bob", "etl"), before);
  EXPECT_THAT(whyNot("db", "bob"),
              HasSubstr("there is no secret 'bob/db'; put it first: tarcil secret put db"));
}

TEST_F(Secrets, GetAnotherVersionWithEachValueAndKeepTheirGrants) {
  ASSERT_TRUE(put("ann", "db").ok());
  ASSERT_TRUE(secrets_.grant({"ann", "db"}, {"bob", ""}).ok());
  const auto again = secrets_.put({"ann", "db"}, valueOf(9, 'y'), kNow + std::chrono::hours(1));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->version, 2u);
  EXPECT_THAT(again->grants, SizeIs(1));
  EXPECT_EQ(again->changed, kNow + std::chrono::hours(1));
  EXPECT_EQ(secrets_.reseal({"ann", "db"}, 1, valueOf(9)).error().code, ErrorCode::kConflict);
  ASSERT_TRUE(secrets_.reseal({"ann", "db"}, 2, valueOf(9, 'z')).ok());
  EXPECT_EQ(secrets_.find({"ann", "db"})->version, 2u) << "the value is the same";
}

TEST_F(Secrets, ThatAreDeletedAreGoneWithTheirGrants) {
  ASSERT_TRUE(put("ann", "db").ok());
  ASSERT_TRUE(secrets_.grant({"ann", "db"}, {"bob", ""}).ok());
  ASSERT_TRUE(secrets_.remove({"ann", "db"}).ok());
  EXPECT_EQ(secrets_.remove({"ann", "db"}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(secrets_.grant({"ann", "db"}, {"bob", ""}).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(put("ann", "db").ok());
  EXPECT_FALSE(isUsable("ann/db", "bob"));
}

TEST_F(Secrets, HaveNamesThatFitPaths) {
  for (const char* name : {"", "a/b", "..", ".x", "-x", "a b"}) EXPECT_FALSE(put("ann", name).ok()) << name;
  EXPECT_FALSE(put("", "db").ok());
  EXPECT_TRUE(put("ann", "_db-1.x").ok());
  EXPECT_THAT(secrets_.all(), SizeIs(1));
}

TEST_F(Secrets, AreOfABoundedSizeAndNumber) {
  EXPECT_TRUE(put("ann", "large", kMaxSecretBytes).ok());
  EXPECT_EQ(put("ann", "larger", kMaxSecretBytes + 1).error().code, ErrorCode::kInvalid);
  for (size_t i = 1; i < kMaxSecretsOfUser; ++i) ASSERT_TRUE(put("ann", "s" + std::to_string(i)).ok());
  EXPECT_EQ(put("ann", "more").error().code, ErrorCode::kExhausted);
  EXPECT_TRUE(put("ann", "large").ok()) << "another value of one that is there";
  EXPECT_TRUE(put("bob", "s").ok());
  ASSERT_TRUE(secrets_.remove({"ann", "s1"}).ok());
  EXPECT_TRUE(put("ann", "more").ok());
}

TEST_F(Secrets, OfAllUsersAreOfABoundedNumberAndSize) {
  for (size_t i = 0; i < kMaxSecrets; ++i)
    ASSERT_TRUE(put(userOf(i / kMaxSecretsOfUser), "s" + std::to_string(i), 0).ok()) << i;
  EXPECT_EQ(put("eve", "s").error().code, ErrorCode::kExhausted);
  SecretTable large;
  size_t held = 0;
  for (; large.put({userOf(held / kMaxSecretsOfUser), userOf(held)}, valueOf(kMaxSecretBytes), kNow).ok();
       ++held) {
  }
  EXPECT_EQ(held, kMaxSealedBytes / (kMaxSecretBytes + SealedValue::kTagBytes));
  ASSERT_TRUE(large.remove({"u0", "u0"}).ok());
  EXPECT_TRUE(large.put({"eve", "s"}, valueOf(kMaxSecretBytes), kNow).ok());
}

TEST_F(Secrets, HaveABoundedNumberOfGrants) {
  ASSERT_TRUE(put("ann", "db").ok());
  for (size_t i = 0; i < kMaxGrantsOfSecret; ++i)
    ASSERT_TRUE(secrets_.grant({"ann", "db"}, {userOf(i), ""}).ok());
  EXPECT_TRUE(secrets_.grant({"ann", "db"}, {userOf(0), ""}).ok()) << "it is there already";
  EXPECT_EQ(secrets_.grant({"ann", "db"}, {"more", ""}).error().code, ErrorCode::kExhausted);
}

TEST_F(Secrets, AreAfterARestartAsTheyWere) {
  ASSERT_TRUE(put("ann", "db").ok());
  ASSERT_TRUE(secrets_.grant({"ann", "db"}, {"bob", ""}).ok());
  std::vector<SecretRecord> stored;
  for (const auto& [key, secret] : secrets_.all()) stored.push_back(secret);
  secrets_ = SecretTable(stored);
  EXPECT_TRUE(isUsable("ann/db", "bob"));
  EXPECT_TRUE(checkSecret(stored[0]).ok());
  stored[0].name = "../x";
  EXPECT_FALSE(checkSecret(stored[0]).ok());
}

TEST(SecretReference, IsOnesOwnOrAnothers) {
  EXPECT_EQ(secretReference("db"), (SecretReference{"", "db"}));
  EXPECT_EQ(secretReference("ann/db"), (SecretReference{"ann", "db"}));
  for (const char* good : {"db", "ann/db", "a.b/c_d"}) EXPECT_THAT(whyNotSecret(good), IsEmpty()) << good;
  for (const char* bad : {"", "/", "/db", "ann/", "a/b/c", "../x", "a b", "ann/../db"})
    EXPECT_THAT(whyNotSecret(bad), HasSubstr("names no secret")) << bad;
}

}  // namespace tarcil::secret_table_test
