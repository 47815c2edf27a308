#include "master/logic/members/members.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/master/master_harness.h"

namespace tarcil::members_test {

using namespace master;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using namespace std::chrono_literals;

Sha256 word(uint8_t number) {
  return {number};
}

class Members : public testing::Test {
 protected:
  Result<MemberRecord> change(MemberChange change) {
    actions_ = master_.handle(MembersChanged{1, std::move(change)});
    return only<AnswerMembers>(actions_).at(0).member;
  }
  Identity joined(const std::string& name, uint8_t number, uint64_t serial, Duration life = 24h) {
    EXPECT_TRUE(change(MemberInvited{MemberRole::kMonitor, name, word(number), 10min}).ok());
    EXPECT_TRUE(change(MemberJoined{word(number), serial, life}).ok());
    return {MemberRole::kMonitor, name, serial};
  }

  MasterHarness master_;
  std::vector<Action> actions_;
};

TEST_F(Members, AreStoredBeforeAnybodyHearsOfThem) {
  joined("s7", 1, 11);
  master_.restart();
  EXPECT_THAT(master_.logic().members().all(), SizeIs(1));
  EXPECT_FALSE(change(MemberJoined{word(1), 12, 24h}).ok()) << "the word is used up, for good";
}

TEST_F(Members, WhoAreRevokedAreToldOfAndStayRevokedOverARestart) {
  const Identity identity = joined("s7", 1, 11);
  ASSERT_TRUE(change(MemberRevoked{MemberRole::kMonitor, "s7"}).ok());
  EXPECT_THAT(only<PublishRevoked>(actions_).at(0).serials, ElementsAre(11));
  master_.restart();
  EXPECT_FALSE(master_.logic().members().admits(identity).ok());
  EXPECT_THAT(master_.logic().members().revokedSerials(), ElementsAre(11));
  ASSERT_TRUE(change(MemberRevoked{MemberRole::kMonitor, "s7"}).ok());
  EXPECT_THAT(only<PublishRevoked>(actions_), IsEmpty()) << "nothing has changed";
}

TEST_F(Members, CertificatesAreGoodForAsLongAsWasSaid) {
  ASSERT_TRUE(change(MemberInvited{MemberRole::kAgent, "a1", word(1), 10min}).ok());
  const auto member = change(MemberJoined{word(1), 11, 24h});
  ASSERT_TRUE(member.ok());
  EXPECT_EQ(member->certificates.back().until, master_.now().wall + 24h);
  EXPECT_LT(member->certificates.back().from, master_.now().wall) << "clocks elsewhere may be behind";
}

TEST_F(Members, AreInvitedUnderNamesAndForTimesThatFit) {
  const auto problemOf = [this](MemberInvited invited) { return change(std::move(invited)).error().message; };
  EXPECT_THAT(problemOf({MemberRole::kMonitor, "a b", word(1), 10min}), HasSubstr("name: 'a b' is no name"));
  EXPECT_THAT(problemOf({MemberRole::kMonitor, "s7", word(1), 1ms}), HasSubstr("life: "));
  EXPECT_THAT(problemOf({MemberRole::kMonitor, "s7", word(1), 24h * 8}), HasSubstr("out of range"));
  EXPECT_THAT(master_.logic().members().all(), IsEmpty());
}

TEST_F(Members, AMasterIsInvitedFromTheMachineOfTheOneThatLeadsAlone) {
  MemberInvited invited{MemberRole::kMaster, "m2", word(1), 10min};
  const auto refused = change(invited);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kDenied);
  EXPECT_THAT(refused.error().message, HasSubstr("on the machine of the master that leads"));
  EXPECT_THAT(master_.logic().members().all(), IsEmpty());
  invited.isOverUnixSocket = true;
  EXPECT_TRUE(change(invited).ok());
  EXPECT_TRUE(change(MemberJoined{word(1), 11, 24h}).ok());
}

TEST_F(Members, WithNothingLeftAreErasedFromTheStore) {
  joined("s7", 1, 11, 1h);
  master_.skip(2h);
  joined("s8", 2, 21);
  EXPECT_THAT(master_.store().load()->members, SizeIs(1));
}

}  // namespace tarcil::members_test
