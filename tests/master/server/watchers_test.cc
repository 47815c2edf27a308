// Callers that wait for a change.
#include "master/server/watchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kj/async-io.h>

namespace tarcil::watchers_test {

struct Waiting : testing::Test {
  ~Waiting() noexcept override {}

  kj::AsyncIoContext io = kj::setupAsyncIo();
  Watchers<int> watchers{{.inAll = 3, .ofUser = 2}};

  bool isDone(kj::Promise<void>& promise) { return promise.poll(io.waitScope); }
};

TEST_F(Waiting, AreWokenByTheNextChangeOfTheirs) {
  auto one = watchers.add(1, "alice"), two = watchers.add(2, "alice");
  watchers.wake(1);
  EXPECT_TRUE(isDone(one));
  EXPECT_FALSE(isDone(two));
}

TEST_F(Waiting, AreBounded) {
  auto one = watchers.add(1, "alice"), two = watchers.add(1, "alice");
  kj::Maybe<kj::Exception> refused =
      kj::runCatchingExceptions([this]() { watchers.add(1, "alice").wait(io.waitScope); });
  KJ_IF_MAYBE (exception, refused) {
    const Error error = fromException(*exception);
    EXPECT_EQ(error.code, ErrorCode::kExhausted);
    EXPECT_THAT(error.message, testing::HasSubstr("try again"));
  } else {
    ADD_FAILURE() << "it was taken";
  }
  EXPECT_FALSE(isDone(one));
}

TEST_F(Waiting, ThatHaveGoneTakeNoPlace) {
  auto one = watchers.add(1, "alice");
  { auto gone = watchers.add(1, "alice"); }
  auto two = watchers.add(1, "alice");
  EXPECT_FALSE(isDone(two));
  watchers.wake(1);
  EXPECT_TRUE(isDone(two));
}

TEST_F(Waiting, TakeNoPlacesOfOtherUsers) {
  auto one = watchers.add(1, "alice"), two = watchers.add(2, "alice");
  auto refused = watchers.add(3, "alice").then([]() { return false; }, [](kj::Exception&&) { return true; });
  EXPECT_TRUE(refused.wait(io.waitScope));
  auto others = watchers.add(1, "bob");
  watchers.wake(1);
  EXPECT_TRUE(isDone(one) && isDone(others));
  auto again = watchers.add(3, "alice");
  EXPECT_FALSE(isDone(again)) << "what was woken counts no more";
}

}  // namespace tarcil::watchers_test
