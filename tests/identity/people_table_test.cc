#include "identity/logic/people_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "identity/logic/token_text.h"

namespace tarcil::people_table_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

constexpr WallTime kNow{std::chrono::hours(1'000)};

Sha256 digest(uint8_t number) {
  Sha256 digest{};
  digest[7] = number;
  return digest;
}

UserRecord user(const std::string& name, Role role = Role::kSubmit, const std::string& account = "") {
  return {.name = name, .account = account, .role = role, .runAs = {name}};
}

TokenRecord token(uint64_t id, const std::string& user, Duration life = 8h) {
  return {.id = id,
          .digest = digest(static_cast<uint8_t>(id)),
          .user = user,
          .runAs = {"nobody"},
          .made = kNow,
          .until = kNow + life};
}

void expectInvalid(const Status& status, const std::string& part) {
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kInvalid) << status.error().message;
  EXPECT_THAT(status.error().message, HasSubstr(part));
}

struct People : testing::Test {
  Status add(const UserRecord& next) { return table.setUser(std::nullopt, next, true); }
  PeopleTable table;
};

TEST_F(People, AreAddedOnceAndChangedAsTheyWereSeen) {
  const UserRecord ann = user("ann");
  ASSERT_TRUE(add(ann).ok());
  expectInvalid(add(ann), "there is user 'ann' already");
  UserRecord changed = ann;
  changed.role = Role::kRead;
  ASSERT_TRUE(table.setUser(ann, changed, true).ok());
  EXPECT_EQ(*table.user("ann"), changed);
  const Status again = table.setUser(ann, user("ann", Role::kOperate), true);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, ErrorCode::kConflict);
  EXPECT_EQ(*table.user("ann"), changed) << "nothing was changed";
  expectInvalid(table.setUser(user("bob"), user("bob"), true), "there is no user 'bob'");
}

TEST_F(People, WithAFieldThatIsWrongAreRefused) {
  expectInvalid(add(user("a b")), "name");
  expectInvalid(add(user("ann", Role::kAgent)), "role: is none of a user");
  UserRecord other = user("ann");
  other.runAs = {"no/body"};
  expectInvalid(add(other), "run-as");
  other.runAs.assign(kMaxRunAs + 1, "nobody");
  expectInvalid(add(other), "write at most 64");
  expectInvalid(add(user("ann", Role::kSubmit, "physics")), "there is no account 'physics'");
  EXPECT_THAT(table.users(), IsEmpty());
}

TEST_F(People, KeepAnOperator) {
  ASSERT_TRUE(add(user("oscar", Role::kOperate)).ok());
  ASSERT_TRUE(add(user("ann")).ok());
  const auto removed = table.removeUser("oscar", false);
  ASSERT_FALSE(removed.ok());
  EXPECT_THAT(removed.error().message, HasSubstr("oscar is the last operator"));
  expectInvalid(table.setUser(user("oscar", Role::kOperate), user("oscar"), false), "the last operator");
  EXPECT_EQ(table.user("oscar")->role, Role::kOperate);
  ASSERT_TRUE(table.setUser(user("ann"), user("ann", Role::kOperate), false).ok());
  EXPECT_TRUE(table.removeUser("oscar", false).ok());
  EXPECT_TRUE(table.removeUser("ann", true).ok()) << "somebody else is one, who is not known here";
}

TEST_F(People, AnAccountIsRemovedWhenNobodyIsInIt) {
  ASSERT_TRUE(table.setAccount(std::nullopt, {.name = "physics"}).ok());
  ASSERT_TRUE(add(user("ann", Role::kSubmit, "physics")).ok());
  expectInvalid(table.removeAccount("physics"), "account physics has 1 member: ann");
  ASSERT_TRUE(table.setUser(user("ann", Role::kSubmit, "physics"), user("ann"), true).ok());
  EXPECT_TRUE(table.removeAccount("physics").ok());
  expectInvalid(table.removeAccount("physics"), "there is no account 'physics'");
}

TEST_F(People, WhoAreInNoAccountAreInTheDefaultOne) {
  ASSERT_TRUE(add(user("ann")).ok());
  EXPECT_EQ(table.accountOf("ann"), nullptr);
  ASSERT_TRUE(table.setAccount(std::nullopt, {.name = kDefaultAccount}).ok());
  ASSERT_TRUE(table.setAccount(std::nullopt, {.name = "physics"}).ok());
  ASSERT_TRUE(add(user("bob", Role::kSubmit, "physics")).ok());
  EXPECT_EQ(table.accountOf("ann")->name, kDefaultAccount);
  EXPECT_EQ(table.accountOf("whoever")->name, kDefaultAccount);
  EXPECT_EQ(table.accountOf("bob")->name, "physics");
}

TEST_F(People, AreLetInByATokenUntilItExpires) {
  ASSERT_TRUE(table.addToken(token(1, "ann"), kNow).ok());
  const auto holder = table.holderOf(1, digest(1), kNow + 8h - 1us);
  ASSERT_TRUE(holder.ok());
  EXPECT_EQ(*holder, (Caller{"ann", Role::kSubmit, {"nobody"}})) << "as it was made";
  ASSERT_TRUE(add(user("ann", Role::kRead)).ok());
  EXPECT_EQ(table.holderOf(1, digest(1), kNow)->role, Role::kRead) << "as the user is known";
  EXPECT_THAT(table.holderOf(1, digest(1), kNow + 8h).error().message, HasSubstr("the token expired at"));
  EXPECT_EQ(table.holderOf(1, digest(2), kNow).error().code, ErrorCode::kDenied);
  EXPECT_EQ(table.holderOf(2, digest(1), kNow).error().code, ErrorCode::kDenied);
}

TEST_F(People, LoseTheirTokensWithThemselves) {
  ASSERT_TRUE(add(user("ann")).ok());
  for (const uint64_t id : {1, 2}) ASSERT_TRUE(table.addToken(token(id, "ann"), kNow).ok());
  ASSERT_TRUE(table.addToken(token(3, "bob"), kNow).ok());
  EXPECT_THAT(table.removeUser("ann", true).value(), ElementsAre(1, 2));
  EXPECT_FALSE(table.holderOf(1, digest(1), kNow).ok());
  EXPECT_FALSE(table.revokeToken(3, "ann").ok()) << "it is another user's";
  EXPECT_TRUE(table.revokeToken(3, "bob").ok());
  EXPECT_FALSE(table.revokeToken(3, "").ok()) << "it is gone";
}

TEST_F(People, HaveABoundedNumberOfTokens) {
  for (uint64_t id = 1; id <= kMaxTokensOfUser; ++id)
    ASSERT_TRUE(table.addToken(token(id, "ann"), kNow).ok());
  const Status more = table.addToken(token(1'000, "ann"), kNow);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().code, ErrorCode::kExhausted);
  EXPECT_TRUE(table.addToken(token(1'001, "bob"), kNow).ok());
  expectInvalid(table.addToken(token(1'002, "bob", -1s), kNow), "ttl: is over already");
}

// What is in the table is what a list of the same changes says, whatever happened in between.
RC_GTEST_PROP(PeopleProperties, TokensExpireAndAreRevokedAsTheirListSays, ()) {
  PeopleTable table;
  std::map<uint64_t, TokenRecord> expected;
  WallTime now = kNow;
  const auto steps = *rc::gen::container<std::vector<std::tuple<uint8_t, uint8_t, uint8_t>>>(rc::gen::tuple(
      rc::gen::inRange<uint8_t>(0, 4), rc::gen::inRange<uint8_t>(1, 12), rc::gen::inRange<uint8_t>(1, 9)));
  for (const auto& [what, id, hours] : steps) {
    const std::string of = "user" + std::to_string(id % 3);
    if (what == 0) {
      TokenRecord made = token(id, of);
      made.until = now + std::chrono::hours(hours);
      if (table.addToken(made, now).ok()) expected.emplace(id, made);
    } else if (what == 1) {
      RC_ASSERT(table.revokeToken(id, of).ok() == (expected.erase(id) > 0));
    } else if (what == 2) {
      table.revokeTokensOf(of);
      std::erase_if(expected, [&of](const auto& each) { return each.second.user == of; });
    } else {
      const WallTime later = now + std::chrono::hours(hours);
      std::multiset<std::string> expiring;
      for (const auto& [number, each] : expected) {
        if (each.until > now && each.until <= later) expiring.insert(each.user);
      }
      const auto told = table.expiring(now, later);
      RC_ASSERT(std::multiset<std::string>(told.begin(), told.end()) == expiring);
      now = later;
      table.forgetExpired(now);
      std::erase_if(expected, [now](const auto& each) { return each.second.until <= now; });
    }
    RC_ASSERT(table.tokens() == expected);
    for (const auto& [number, each] : expected) RC_ASSERT(table.holderOf(number, each.digest, now).ok());
  }
}

TEST(TokenText, SaysWhichTokenItIs) {
  const std::string text = tokenText(0x0f1e2d3c4b5a6978, TokenSecret{1, 2, 3});
  EXPECT_EQ(tokenIdOf(text), 0x0f1e2d3c4b5a6978);
  EXPECT_EQ(text.size(), 16u + 1 + 64);
  for (const std::string& other : {std::string(), std::string(81, 'a'), text + "0", text.substr(1),
                                   "X" + text.substr(1), text.substr(0, 80) + "g"}) {
    EXPECT_EQ(tokenIdOf(other), std::nullopt) << other;
  }
}

}  // namespace tarcil::people_table_test
