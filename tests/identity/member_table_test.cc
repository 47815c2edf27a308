#include "identity/logic/member_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tarcil::member_table_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using namespace std::chrono_literals;

constexpr WallTime kNow{std::chrono::hours(1'000)};

Sha256 word(uint8_t number) {
  Sha256 digest{};
  digest[7] = number;
  return digest;
}

MemberCertificate certificate(uint64_t serial, Duration life = 24h) {
  return {serial, kNow, kNow + life};
}

ErrorCode codeOf(const Result<MemberRecord>& result) {
  return result ? ErrorCode::kInternal : result.error().code;
}

struct Table : testing::Test {
  Result<MemberRecord> invite(const std::string& name, uint8_t number, WallTime now = kNow) {
    return table.invite(MemberRole::kMonitor, name, {word(number), now + 10min}, now);
  }
  Identity joined(const std::string& name, uint8_t number, uint64_t serial) {
    EXPECT_TRUE(invite(name, number).ok());
    EXPECT_TRUE(table.join(word(number), certificate(serial), kNow).ok());
    return {MemberRole::kMonitor, name, serial};
  }

  MemberTable table;
};

TEST_F(Table, LetsAWordInOnce) {
  ASSERT_TRUE(invite("s7", 1).ok());
  const auto joined = table.join(word(1), certificate(11), kNow);
  ASSERT_TRUE(joined.ok());
  EXPECT_EQ(joined->name, "s7");
  EXPECT_FALSE(joined->invitation);
  EXPECT_THAT(joined->certificates, ElementsAre(certificate(11)));
  EXPECT_EQ(codeOf(table.join(word(1), certificate(12), kNow)), ErrorCode::kDenied);
}

TEST_F(Table, LetsNoExpiredUnknownOrReplacedWordIn) {
  ASSERT_TRUE(invite("s7", 1).ok());
  EXPECT_EQ(codeOf(table.join(word(2), certificate(11), kNow)), ErrorCode::kDenied);
  EXPECT_EQ(codeOf(table.join(word(1), certificate(11), kNow + 10min)), ErrorCode::kDenied);
  ASSERT_TRUE(invite("s7", 3).ok());
  EXPECT_EQ(codeOf(table.join(word(1), certificate(11), kNow)), ErrorCode::kDenied);
  EXPECT_TRUE(table.join(word(3), certificate(11), kNow).ok());
}

TEST_F(Table, InvitesNobodyUnderANameThatIsTaken) {
  joined("s7", 1, 11);
  const auto again = invite("s7", 2);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, ErrorCode::kConflict);
  EXPECT_THAT(again.error().message, HasSubstr("the name is taken: monitor s7 has a certificate until"));
  EXPECT_TRUE(table.invite(MemberRole::kAgent, "s7", {word(2), kNow + 10min}, kNow).ok());
  EXPECT_TRUE(invite("s7", 3, kNow + 24h).ok());
}

TEST_F(Table, RevokesAllCertificatesAndTheWordOfAName) {
  const Identity identity = joined("s7", 1, 11);
  ASSERT_TRUE(table.renew(identity, certificate(12), kNow).ok());
  joined("s8", 2, 21);
  EXPECT_TRUE(table.admits(identity).ok());
  ASSERT_TRUE(table.revoke(MemberRole::kMonitor, "s7").ok());
  EXPECT_THAT(table.revokedSerials(), ElementsAre(11, 12));
  EXPECT_FALSE(table.admits(identity).ok());
  EXPECT_EQ(codeOf(table.renew(identity, certificate(13), kNow)), ErrorCode::kDenied);
  EXPECT_TRUE(table.admits({MemberRole::kMonitor, "s8", 21}).ok());
  ASSERT_TRUE(invite("s7", 3).ok());
  ASSERT_TRUE(table.revoke(MemberRole::kMonitor, "s7").ok());
  EXPECT_EQ(codeOf(table.join(word(3), certificate(14), kNow)), ErrorCode::kDenied);
  EXPECT_EQ(codeOf(table.revoke(MemberRole::kMonitor, "s9")), ErrorCode::kNotFound);
}

TEST_F(Table, GivesAMemberFewCertificatesAtOnce) {
  const Identity identity = joined("s7", 1, 1);
  for (uint64_t serial = 2; serial <= kMaxCertificatesOfMember; ++serial) {
    ASSERT_TRUE(table.renew(identity, certificate(serial), kNow).ok());
  }
  EXPECT_EQ(codeOf(table.renew(identity, certificate(100), kNow)), ErrorCode::kExhausted);
  EXPECT_TRUE(table.renew(identity, {100, kNow + 24h, kNow + 48h}, kNow + 24h).ok());
}

TEST_F(Table, TakesABoundedNumberOfMembers) {
  std::vector<MemberRecord> stored;
  for (size_t i = 0; i < kMaxMembers; ++i) stored.push_back({MemberRole::kMonitor, "s" + std::to_string(i)});
  table = MemberTable(std::move(stored));
  EXPECT_EQ(codeOf(invite("one-more", 1)), ErrorCode::kExhausted);
  EXPECT_TRUE(invite("s7", 1).ok()) << "one of them may join again";
}

TEST_F(Table, RemembersOneThatItsAuthoritySignedElsewhereAsItRenews) {
  ASSERT_TRUE(table.renew({MemberRole::kAgent, "a1", 5}, certificate(6), kNow).ok());
  EXPECT_THAT(table.all().at({MemberRole::kAgent, "a1"}).certificates, ElementsAre(certificate(6)));
}

TEST_F(Table, ForgetsWhatHasExpired) {
  joined("s7", 1, 11);
  ASSERT_TRUE(invite("s8", 2).ok());
  EXPECT_THAT(table.forgetExpired(kNow), IsEmpty());
  EXPECT_THAT(table.forgetExpired(kNow + 10min), ElementsAre(MemberTable::Key(MemberRole::kMonitor, "s8")));
  EXPECT_THAT(table.forgetExpired(kNow + 24h), SizeIs(1));
  EXPECT_THAT(table.all(), IsEmpty());
}

TEST_F(Table, IsTheSameMadeFromWhatItGave) {
  joined("s7", 1, 11);
  ASSERT_TRUE(table.revoke(MemberRole::kMonitor, "s7").ok());
  std::vector<MemberRecord> stored;
  for (const auto& [key, member] : table.all()) stored.push_back(member);
  const MemberTable again(stored);
  EXPECT_EQ(again.all(), table.all());
  EXPECT_THAT(again.revokedSerials(), ElementsAre(11));
}

TEST_F(Table, ListsACertificateThatWasMadeElsewhereOnce) {
  const Identity master{MemberRole::kMaster, "m", 5};
  const auto noted = table.note(master, certificate(5));
  ASSERT_TRUE(noted);
  EXPECT_THAT(noted->certificates, SizeIs(1));
  EXPECT_FALSE(table.note(master, certificate(5))) << "after a restart it is known";
  ASSERT_TRUE(table.revoke(MemberRole::kMaster, "m").ok());
  EXPECT_FALSE(table.note(master, certificate(5))) << "and stays revoked";
  EXPECT_THAT(table.revokedSerials(), ElementsAre(5));
}

}  // namespace tarcil::member_table_test
