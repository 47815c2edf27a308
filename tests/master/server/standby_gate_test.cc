#include "master/server/standby_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kj/async-io.h>
#include <kj/debug.h>

#include "rpc/errors.h"

namespace tarcil::standby_gate_test {

using testing::HasSubstr;

class StandbyGateTest : public testing::Test {
 protected:
  ~StandbyGateTest() noexcept override = default;

  Error loginError() {
    try {
      gate_.loginRequest().send().wait(io_.waitScope);
    } catch (const kj::Exception& exception) {
      return fromException(exception);
    }
    return {};
  }

  kj::AsyncIoContext io_ = kj::setupAsyncIo();
  MasterStanding standing_;
  wire::MasterGate::Client gate_ = makeStandbyGate([this]() { return standing_; });
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

}  // namespace tarcil::standby_gate_test
