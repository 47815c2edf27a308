#include "agent/server/user_calls.h"

#include <gtest/gtest.h>
#include <kj/async-io.h>

#include <string>

#include "rpc/errors.h"

namespace tarcil::user_calls_test {

// A master that answers no waits, and lists at once.
class PlayedUserPort final : public wire::UserPort::Server {
 public:
  PlayedUserPort(size_t& waiting, size_t& asked, kj::ForkedPromise<void>& mayAnswer)
      : waiting_(waiting), asked_(asked), mayAnswer_(mayAnswer) {}

 protected:
  kj::Promise<void> wait(WaitContext context) override {
    context.allowCancellation();
    ++waiting_;
    return kj::Promise<void>(kj::NEVER_DONE).attach(kj::defer([this]() { --waiting_; }));
  }
  kj::Promise<void> find(FindContext context) override {
    context.getResults().initIds(1);
    ++asked_;
    return mayAnswer_.addBranch();
  }

 private:
  size_t& waiting_;
  size_t& asked_;
  kj::ForkedPromise<void>& mayAnswer_;
};

class UserCallsTest : public testing::Test {
 public:
  ~UserCallsTest() noexcept override = default;

 protected:
  wire::UserPort::Client portOf(const std::string& user) {
    return calls_.port(fair_->user(user), kj::heap<PlayedUserPort>(waiting_, asked_, mayAnswer_));
  }
  static kj::Promise<void> wait(wire::UserPort::Client& port, size_t bytes) {
    auto request = port.waitRequest();
    request.initId(static_cast<uint32_t>(bytes));
    return request.send().ignoreResult();
  }
  Error errorOf(kj::Promise<void> promise) {
    Error error{};
    promise.catch_([&error](kj::Exception&& exception) { error = fromException(exception); })
        .wait(io_.waitScope);
    return error;
  }

  kj::AsyncIoContext io_ = kj::setupAsyncIo();
  size_t waiting_ = 0, asked_ = 0;
  kj::PromiseFulfillerPair<void> answer_ = kj::newPromiseAndFulfiller<void>();
  kj::ForkedPromise<void> mayAnswer_ = answer_.promise.fork();
  kj::Own<FairCalls> fair_ = kj::refcounted<FairCalls>(io_.provider->getTimer());
  UserCalls calls_;
};

TEST_F(UserCallsTest, GiveTheMastersAnswers) {
  auto port = portOf("ann");
  answer_.fulfiller->fulfill();
  EXPECT_EQ(port.findRequest().send().wait(io_.waitScope).getIds().size(), 1u);
}

TEST_F(UserCallsTest, AreBoundedByWhatTheyTake) {
  auto port = portOf("ann"), again = portOf("ann"), other = portOf("bob");
  constexpr size_t kBytes = 1 << 20;
  kj::Vector<kj::Promise<void>> waits;
  for (size_t i = 0; i + 1 < kMaxWaitBytes / kBytes; ++i) waits.add(wait(i % 2 == 0 ? port : again, kBytes));
  io_.waitScope.poll();
  ASSERT_EQ(waiting_, waits.size());
  const Error refused = errorOf(wait(port, kBytes));
  EXPECT_EQ(refused.code, ErrorCode::kExhausted);
  waits.add(wait(other, kBytes));
  io_.waitScope.poll();
  EXPECT_EQ(waiting_, waits.size());

  waits.clear();
  io_.waitScope.poll();
  auto later = wait(port, kBytes);
  io_.waitScope.poll();
  EXPECT_EQ(waiting_, 1u) << "there is room again";
}

TEST_F(UserCallsTest, AreBoundedOfAllUsers) {
  constexpr size_t kBytes = 3 << 20;
  kj::Vector<kj::Promise<void>> waits;
  const size_t fit = kMaxWaitBytesOfAll / (kBytes + 1'000);
  for (size_t i = 0; i < fit; ++i) {
    auto port = portOf("user-" + std::to_string(i));
    waits.add(wait(port, kBytes));
  }
  io_.waitScope.poll();
  ASSERT_EQ(waiting_, fit);
  auto port = portOf("one more");
  EXPECT_EQ(errorOf(wait(port, kBytes)).code, ErrorCode::kExhausted);
}

TEST_F(UserCallsTest, OfAUserAreAskedFewAtOnce) {
  auto port = portOf("ann"), other = portOf("bob");
  kj::Vector<kj::Promise<void>> queries;
  for (int i = 0; i < 100; ++i) queries.add(port.findRequest().send().ignoreResult());
  io_.waitScope.poll();
  const size_t most = UserBounds{}.seats[static_cast<size_t>(SeatKind::kQuery)].number;
  EXPECT_EQ(asked_, most);
  queries.add(other.findRequest().send().ignoreResult());
  io_.waitScope.poll();
  EXPECT_EQ(asked_, most + 1);
  answer_.fulfiller->fulfill();
  kj::joinPromises(queries.releaseAsArray()).wait(io_.waitScope);
  EXPECT_EQ(asked_, 101u);
}

TEST_F(UserCallsTest, OfThoseWhoHangUpWaitAtTheMasterNoMore) {
  auto port = portOf("ann");
  auto stays = wait(port, 16);
  {
    auto goes = wait(port, 16);
    io_.waitScope.poll();
    EXPECT_EQ(waiting_, 2u);
  }
  io_.waitScope.poll();
  EXPECT_EQ(waiting_, 1u);
}

}  // namespace tarcil::user_calls_test
