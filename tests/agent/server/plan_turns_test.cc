// Whose plan comes when, and how many may wait.
#include "agent/server/plan_turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kj/async-io.h>

#include "rpc/errors.h"

namespace tarcil::plan_turns_test {

using testing::ElementsAre;
using testing::HasSubstr;

struct Plans : testing::Test {
  ~Plans() noexcept override {}

  kj::AsyncIoContext io = kj::setupAsyncIo();
  PlanTurns turns{io.provider->getTimer(), systemClock(), {.ofUser = 2, .inAll = 3}};
  std::vector<std::string> made;

  kj::Promise<void> ask(const std::string& user, const std::string& plan) {
    return turns.add(user, [this, plan]() { made.push_back(plan); });
  }
  // Why it is not taken.
  std::string refusal(const std::string& user) {
    return ask(user, "too many")
        .then([]() { return std::string("taken"); },
              [](kj::Exception&& exception) {
                const Error error = fromException(exception);
                EXPECT_EQ(error.code, ErrorCode::kExhausted);
                return error.message;
              })
        .wait(io.waitScope);
  }
};

TEST_F(Plans, AreMadeOfOneUserAfterTheOther) {
  auto promises = kj::heapArrayBuilder<kj::Promise<void>>(4);
  promises.add(ask("alice", "a1"));  // at once
  promises.add(ask("alice", "a2"));
  promises.add(ask("alice", "a3"));
  promises.add(ask("bob", "b1"));
  kj::joinPromises(promises.finish()).wait(io.waitScope);
  EXPECT_THAT(made, ElementsAre("a1", "b1", "a2", "a3"));
}

TEST_F(Plans, AreBoundedByUserAndInAll) {
  auto now = ask("alice", "now"), one = ask("alice", "a"), two = ask("alice", "b");
  EXPECT_THAT(refusal("alice"), HasSubstr("2 plans of alice wait"));
  auto bobs = ask("bob", "c");
  EXPECT_THAT(refusal("carol"), HasSubstr("3 plans wait"));
  bobs.wait(io.waitScope);
  two.wait(io.waitScope);
  EXPECT_EQ(made.size(), 4u);
}

TEST_F(Plans, OfWhomNobodyWaitsForAreNotMade) {
  auto now = ask("alice", "now");
  { auto gone = ask("alice", "gone"); }
  { auto gone = ask("alice", "gone"); }
  ask("alice", "next").wait(io.waitScope);
  EXPECT_THAT(made, ElementsAre("now", "next"));
}

TEST_F(Plans, ThatFailSayWhy) {
  const std::string why =
      turns.add("alice", []() { kj::throwFatalException(toException(invalid("no"))); })
          .then([]() { return std::string(); },
                [](kj::Exception&& exception) { return fromException(exception).message; })
          .wait(io.waitScope);
  EXPECT_EQ(why, "no");
  ask("alice", "next").wait(io.waitScope);
  EXPECT_THAT(made, ElementsAre("next"));
}

}  // namespace tarcil::plan_turns_test
