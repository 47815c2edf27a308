#include "agent/late/late_grants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kj/async-io.h>

#include <deque>

#include "rpc/errors.h"
#include "tests/support/manual_clock.h"

namespace tarcil::agent_late_grants_test {

using testing::HasSubstr;

struct AgentLateGrants : testing::Test {
  ~AgentLateGrants() noexcept override {}

  LateGrants::Ref held(const std::string& user = "ann") {
    const auto found = grants.find(user, "nobody");
    return found ? *found : nullptr;
  }
  // The master answers the first question that it has not answered.
  void answer() {
    asked.front()->fulfill({"a1", "ann", "nobody", clock.now().wall + kLateGrantLife, "signature"});
    asked.pop_front();
    io.waitScope.poll();
  }
  void refuse(const Error& error) {
    asked.front()->reject(toException(error));
    asked.pop_front();
    io.waitScope.poll();
  }

  kj::AsyncIoContext io = kj::setupAsyncIo();
  ManualClock clock;
  std::deque<kj::Own<kj::PromiseFulfiller<LateGrant>>> asked;
  LateGrants grants{clock, [this](const std::string&, const std::string&) {
                      auto question = kj::newPromiseAndFulfiller<LateGrant>();
                      asked.push_back(kj::mv(question.fulfiller));
                      return kj::mv(question.promise);
                    }};
};

TEST_F(AgentLateGrants, AreAskedForOnceForAllWhoWait) {
  EXPECT_EQ(held(), nullptr);
  auto first = grants.get("ann", "nobody"), second = grants.get("ann", "nobody");
  EXPECT_EQ(asked.size(), 1u);
  answer();
  first.wait(io.waitScope);
  second.wait(io.waitScope);
  ASSERT_NE(held(), nullptr);
  EXPECT_EQ(held()->grant.signature, "signature");
}

TEST_F(AgentLateGrants, AreRenewedWhileTheyHold) {
  auto got = grants.get("ann", "nobody");
  answer();
  const LateGrants::Ref ref = held();
  const uint64_t version = ref->version;
  clock.pass(LateGrants::kRenewal - Duration(1));
  grants.use(ref);
  EXPECT_TRUE(asked.empty());
  clock.pass(Duration(1));
  grants.use(ref);
  grants.use(ref);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(held(), ref) << "it holds until then";
  answer();
  EXPECT_GT(ref->version, version);
}

TEST_F(AgentLateGrants, GoOnWithoutTheMasterUntilTheyEnd) {
  auto got = grants.get("ann", "nobody");
  answer();
  const LateGrants::Ref ref = held();
  clock.pass(LateGrants::kRenewal);
  grants.use(ref);
  refuse({ErrorCode::kUnavailable, "the master is away"});
  EXPECT_EQ(held(), ref);
  grants.use(ref);
  EXPECT_TRUE(asked.empty()) << "after a pause";
  clock.pass(LateGrants::kPause);
  grants.use(ref);
  EXPECT_EQ(asked.size(), 1u);
  refuse({ErrorCode::kUnavailable, "the master is away"});
  clock.pass(kLateGrantLife);
  EXPECT_THAT(grants.find("ann", "nobody").error().message, HasSubstr("the master is away"));
}

TEST_F(AgentLateGrants, AreAskedForAgainWhereTheMasterSaidNo) {
  auto got = grants.get("ann", "nobody");
  refuse(denied("no user 'ann' is logged in"));
  got.wait(io.waitScope);
  EXPECT_EQ(grants.find("ann", "nobody").error().code, ErrorCode::kDenied);
  auto again = grants.get("ann", "nobody");
  answer();
  EXPECT_NE(held(), nullptr);
}

TEST_F(AgentLateGrants, OfAnotherMasterReplaceThoseThatThereAre) {
  auto got = grants.get("ann", "nobody");
  answer();
  grants.masterAttached();
  grants.use(held());
  EXPECT_EQ(asked.size(), 1u);
}

}  // namespace tarcil::agent_late_grants_test
