#include "master/server/standby_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kj/async-io.h>
#include <kj/debug.h>

#include "rpc/errors.h"
#include "tests/support/temporary_folder.h"

namespace tarcil::standby_gate_test {

using testing::HasSubstr;

class StandbyGateTest : public testing::Test {
 protected:
  ~StandbyGateTest() noexcept override = default;

  Error errorOf(kj::Promise<void> call) {
    try {
      call.wait(io_.waitScope);
    } catch (const kj::Exception& exception) {
      return fromException(exception);
    }
    return {};
  }
  Error loginError() { return errorOf(gate_.loginRequest().send().ignoreResult()); }

  LetIn lettingIn(std::shared_ptr<const PeerName> peer = std::make_shared<const PeerName>()) {
    return LetIn([this](Peer as, kj::Maybe<FairCalls::User&>,
                        kj::Promise<void>) { areRoles_ += as == Peer::kRole ? 1 : 0; },
                 std::move(peer));
  }
  auto laterLeader(wire::MasterGate::Client gate, const char* token, uint64_t term) {
    auto request = gate.laterLeaderRequest();
    request.setToken(token);
    request.setTerm(term);
    return request.send();
  }
  std::string refused(const char* token) {
    const Error error = errorOf(laterLeader(gate_, token, 0).ignoreResult());
    return std::string(name(error.code)) + ": " + error.message;
  }
  static TokenTable tokens(const std::string& path) {
    for (const TokenTable::Entry& entry : {TokenTable::Entry{kAgentToken, {"a", Role::kAgent, {}}},
                                           TokenTable::Entry{kUserToken, {"ann", Role::kOperate, {}}}})
      KJ_ASSERT(TokenTable::add(path, entry).ok());
    auto read = TokenTable::read(path);
    KJ_ASSERT(read.ok());
    return std::move(*read);
  }

  static constexpr const char* kAgentToken = "11111111111111111111111111111111";
  static constexpr const char* kUserToken = "22222222222222222222222222222222";

  kj::AsyncIoContext io_ = kj::setupAsyncIo();
  TemporaryFolder folder_;
  MasterStanding standing_;
  LeaderNews news_;
  const TokenTable tokens_ = tokens(folder_.path() + "/tokens");
  const StandbyContext context_{[this]() { return standing_; }, news_, tokens_};
  size_t areRoles_ = 0;  // that were let in
  wire::MasterGate::Client gate_ = makeStandbyGate(context_, lettingIn());
};

TEST_F(StandbyGateTest, SaysWhoLeadsAndLetsNobodyIn) {
  standing_.leader = "10.0.0.2:7001";
  standing_.term = 7;
  const Error error = loginError();
  EXPECT_EQ(error.code, ErrorCode::kUnavailable) << "who asks goes on to the next master";
  EXPECT_EQ(error.message, "not_leader: the master at 10.0.0.2:7001 leads (term 7)");
  standing_.leader.clear();
  EXPECT_EQ(loginError().message, "not_leader: no master leads at the moment");
}

TEST_F(StandbyGateTest, TellsHowItStands) {
  standing_ = {.name = "host a:1 12",
               .address = "a:1",
               .pid = 12,
               .term = 3,
               .since = WallTime(std::chrono::seconds(5)),
               .behind = std::chrono::milliseconds(40),
               .leader = "b:1",
               .hasState = true};
  const auto answer = gate_.standingRequest().send().wait(io_.waitScope);
  const auto told = answer.getStanding();
  EXPECT_STREQ(told.getName().cStr(), "host a:1 12");
  EXPECT_STREQ(told.getAddress().cStr(), "a:1");
  EXPECT_EQ(told.getPid(), 12u);
  EXPECT_FALSE(told.getLeads());
  EXPECT_EQ(told.getTerm(), 3u);
  EXPECT_EQ(told.getSince(), 5'000'000);
  EXPECT_EQ(told.getBehind(), 40'000u);
  EXPECT_STREQ(told.getLeader().cStr(), "b:1");
  EXPECT_TRUE(told.getHasState());
}

TEST_F(StandbyGateTest, TellsRolesOfALaterLeader) {
  news_.note(4);
  EXPECT_EQ(laterLeader(gate_, kAgentToken, 3).wait(io_.waitScope).getTerm(), 4u) << "known already";
  auto answer = laterLeader(gate_, kAgentToken, 4);
  EXPECT_FALSE(answer.poll(io_.waitScope));
  news_.note(4);
  EXPECT_FALSE(answer.poll(io_.waitScope));
  news_.note(6);
  EXPECT_EQ(answer.wait(io_.waitScope).getTerm(), 6u);
  EXPECT_EQ(areRoles_, 2u) << "visitors may not wait";
}

TEST_F(StandbyGateTest, TellsRolesWhenItLeadsItself) {
  news_.note(5);
  auto answer = laterLeader(gate_, kAgentToken, 5);
  EXPECT_FALSE(answer.poll(io_.waitScope)) << "of which others have told";
  news_.serves(5);
  EXPECT_EQ(answer.wait(io_.waitScope).getTerm(), 5u);
}

TEST_F(StandbyGateTest, TellsThatToNobodyElse) {
  EXPECT_THAT(refused("33333333333333333333333333333333"), HasSubstr("Denied"));
  EXPECT_THAT(refused(kUserToken), HasSubstr("who leads next is told to agents and monitors"));
  EXPECT_EQ(areRoles_, 0u);
}

TEST_F(StandbyGateTest, KnowsRolesByTheirCertificates) {
  const auto peer = std::make_shared<const PeerName>(
      PeerName{.identity = Identity{MemberRole::kMonitor, "s7", 8}, .until = kNever, .address = "10.0.0.9"});
  news_.note(2);
  const auto answer = laterLeader(makeStandbyGate(context_, lettingIn(peer)), "", 1).wait(io_.waitScope);
  EXPECT_EQ(answer.getTerm(), 2u);
}

}  // namespace tarcil::standby_gate_test
