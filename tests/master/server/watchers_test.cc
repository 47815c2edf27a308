// Callers that wait for a change.
#include "master/server/watchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kj/async-io.h>

namespace tarcil::watchers_test {

struct Waiting : testing::Test {
  ~Waiting() noexcept override {}

  kj::AsyncIoContext io = kj::setupAsyncIo();
  Watchers<int> watchers{2};

  bool isDone(kj::Promise<void>& promise) { return promise.poll(io.waitScope); }
};

TEST_F(Waiting, AreWokenByTheNextChangeOfTheirs) {
  auto one = watchers.add(1), two = watchers.add(2);
  watchers.wake(1);
  EXPECT_TRUE(isDone(one));
  EXPECT_FALSE(isDone(two));
}

TEST_F(Waiting, AreBounded) {
  auto one = watchers.add(1), two = watchers.add(1);
  kj::Maybe<kj::Exception> refused =
      kj::runCatchingExceptions([this]() { watchers.add(1).wait(io.waitScope); });
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
  auto one = watchers.add(1);
  { auto gone = watchers.add(1); }
  auto two = watchers.add(1);
  EXPECT_FALSE(isDone(two));
  watchers.wake(1);
  EXPECT_TRUE(isDone(two));
}

}  // namespace tarcil::watchers_test
