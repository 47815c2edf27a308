#include "master/logic/people/people.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/master/master_harness.h"

namespace tarcil::people_test {

using namespace master;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using namespace std::chrono_literals;

class People : public testing::Test {
 protected:
  Status change(PeopleChange change, bool hasOther = true) {
    actions_ = master_.handle(PeopleChanged{1, std::move(change), "oscar", hasOther});
    return only<Answer>(actions_).at(0).status;
  }
  std::vector<std::string> told() const {
    std::vector<std::string> users;
    for (const PublishUser& news : only<PublishUser>(actions_)) users.push_back(news.user);
    return users;
  }
  TokenRecord token(uint64_t id, const std::string& user, Duration life = 8h) const {
    return {.id = id, .digest = {1}, .user = user, .until = master_.now().wall + life};
  }
  const PeopleTable& people() { return master_.logic().people(); }

  MasterHarness master_;
  std::vector<Action> actions_;
};

TEST_F(People, AreStoredBeforeAnybodyHearsOfThem) {
  ASSERT_TRUE(change(AccountSet{{}, {.name = "physics", .shares = 3}}).ok());
  ASSERT_TRUE(change(UserSet{{}, {.name = "ann", .account = "physics", .runAs = {"ann"}}}).ok());
  EXPECT_THAT(told(), ElementsAre("ann"));
  ASSERT_TRUE(change(TokenAdded{token(7, "ann")}).ok());
  master_.restart();
  EXPECT_EQ(people().user("ann")->changedBy, "oscar");
  EXPECT_EQ(people().accountOf("ann")->shares, 3u);
  EXPECT_TRUE(people().holderOf(7, {1}, master_.now().wall).ok());
}

TEST_F(People, WhoAreRemovedAreGoneWithTheirTokensForGood) {
  ASSERT_TRUE(change(UserSet{{}, {.name = "ann"}}).ok());
  ASSERT_TRUE(change(TokenAdded{token(7, "ann")}).ok());
  ASSERT_TRUE(change(UserRemoved{"ann"}).ok());
  EXPECT_THAT(told(), ElementsAre("ann"));
  master_.restart();
  EXPECT_THAT(people().users(), IsEmpty());
  EXPECT_THAT(people().tokens(), IsEmpty());
}

TEST_F(People, OfWhomNothingChangesAreToldToNobody) {
  ASSERT_TRUE(change(UserSet{{}, {.name = "oscar", .role = Role::kOperate}}).ok());
  const Status removed = change(UserRemoved{"oscar"}, false);
  ASSERT_FALSE(removed.ok());
  EXPECT_THAT(removed.error().message, HasSubstr("the last operator"));
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_THAT(only<Persist>(actions_), IsEmpty());
}

TEST_F(People, TokensThatExpiredAreForgottenWithTheNextChange) {
  ASSERT_TRUE(change(TokenAdded{token(7, "ann", 1h)}).ok());
  master_.pass(2h);
  ASSERT_TRUE(change(TokenAdded{token(8, "ann")}).ok());
  master_.restart();
  EXPECT_THAT(people().tokens(), SizeIs(1));
}

TEST_F(People, ATokenIsRevokedByItsUserOrAnOperator) {
  ASSERT_TRUE(change(TokenAdded{token(7, "ann")}).ok());
  EXPECT_EQ(change(TokenRevoked{7, "bob"}).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(change(TokenRevoked{7, "ann"}).ok());
  EXPECT_THAT(told(), ElementsAre("ann"));
  ASSERT_TRUE(change(TokenAdded{token(8, "ann")}).ok());
  ASSERT_TRUE(change(TokenRevoked{8, ""}).ok());
  master_.restart();
  EXPECT_THAT(people().tokens(), IsEmpty());
}

// --- Whose word counts

Vouching rules(const std::vector<std::string>& all) {
  Vouching vouching;
  for (const std::string& rule : all) EXPECT_TRUE(vouching.add(rule).ok()) << rule;
  return vouching;
}

TEST(Vouching, CountsOfAnAgentByItsOwnRuleBeforeThatOfAll) {
  using Whom = Vouching::Whom;
  EXPECT_EQ(rules({}).of("a1"), Whom::kNobody);
  const Vouching vouching = rules({"*=known", "login-1=all"});
  EXPECT_EQ(vouching.of("login-1"), Whom::kAll);
  EXPECT_EQ(vouching.of("a1"), Whom::kKnown);
  EXPECT_EQ(vouching.of(""), Whom::kKnown) << "the master's own socket";
  EXPECT_EQ(rules({"login-1=all"}).of(""), Whom::kNobody);
}

TEST(Vouching, RefusesWhatIsNoRule) {
  Vouching vouching = rules({"a1=all"});
  for (const char* rule : {"", "a1", "a2=", "a2=some", "=all", "a b=all", "a1=known"})
    EXPECT_FALSE(vouching.add(rule).ok()) << rule;
  EXPECT_EQ(vouching.of("a1"), Vouching::Whom::kAll);
}

TEST(Vouching, LetsInWhomTheRuleIsFor) {
  const PeopleTable people({{.name = "ann", .role = Role::kRead, .runAs = {"guest"}}}, {}, {});
  const Caller ann{"ann", Role::kRead, {"guest"}}, bob{"bob", Role::kSubmit, {"bob"}};
  const Vouching vouching = rules({"a1=all", "a2=known"});
  EXPECT_EQ(*vouchedFor(people, vouching, "a1", "ann"), ann) << "what is known of a user counts";
  EXPECT_EQ(*vouchedFor(people, vouching, "a2", "ann"), ann);
  EXPECT_EQ(*vouchedFor(people, vouching, "a1", "bob"), bob);
  EXPECT_THAT(vouchedFor(people, vouching, "a2", "bob").error().message, HasSubstr("tarcil user add bob"));
  EXPECT_FALSE(vouchedFor(people, vouching, "a3", "ann").ok());
}

TEST(Vouching, MakesNobodyAnOperator) {
  const PeopleTable people({{.name = "oscar", .role = Role::kOperate, .runAs = {"oscar"}}}, {}, {});
  const Vouching vouching = rules({"*=known"});
  EXPECT_EQ(vouchedFor(people, vouching, "a1", "oscar")->role, Role::kSubmit);
  EXPECT_EQ(vouchedFor(people, vouching, "", "oscar")->role, Role::kOperate) << "the master saw it by itself";
}

TEST(Vouching, NeverLetsRootInNorWhoIsNoName) {
  const PeopleTable people({{.name = "root", .role = Role::kOperate}}, {}, {});
  const Vouching vouching = rules({"a1=all", "a2=known"});
  for (const char* agent : {"", "a1", "a2"}) EXPECT_FALSE(vouchedFor(people, vouching, agent, "root").ok());
  for (const char* name : {"", "a b", "../x", "-x"})
    EXPECT_FALSE(vouchedFor(people, vouching, "a1", name).ok()) << name;
}

}  // namespace tarcil::people_test
