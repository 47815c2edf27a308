#include "rpc/turns.h"

#include <gtest/gtest.h>
#include <kj/async-io.h>

#include "rpc/coalescing_stream.h"
#include "rpc/fair_calls.h"

namespace tarcil::turns_test {

// An event loop that always has something to do, and looks now and then for what has come.
class ABusyLoop : public testing::Test {
 protected:
  ABusyLoop() { io_.waitScope.setBusyPollInterval(20); }
  ~ABusyLoop() noexcept override { goesOn_ = false; }

  kj::Promise<void> work() {
    if (!goesOn_) return kj::READY_NOW;
    ++done_;
    return kj::evalLater([this]() { return work(); });
  }

  kj::AsyncIoContext io_ = kj::setupAsyncIo();
  kj::Timer& timer_ = io_.provider->getTimer();
  bool goesOn_ = true;
  size_t done_ = 0;
  kj::Promise<void> working_ = kj::evalLater([this]() { return work(); }).eagerlyEvaluate(nullptr);
};

// Each would hang where it never came.
TEST_F(ABusyLoop, LetsOutWhatHasGathered) {
  untilIdle(timer_).wait(io_.waitScope);
  EXPECT_GT(done_, 0u);
}

TEST_F(ABusyLoop, GoesOnWithWhatIsDoneInParts) {
  for (int part = 0; part < 3; ++part) nextTurn(timer_).wait(io_.waitScope);
  EXPECT_GT(done_, 0u);
}

TEST_F(ABusyLoop, SendsWhatIsWritten) {
  auto pipe = kj::newTwoWayPipe();
  auto stream = coalescing(timer_, kj::mv(pipe.ends[0]), BeyondUnread::kWriterWaits);
  stream->write("x", 1).wait(io_.waitScope);
  char byte = 0;
  pipe.ends[1]->read(&byte, 1).wait(io_.waitScope);
  EXPECT_EQ(byte, 'x');
}

TEST_F(ABusyLoop, TakesCallsOfUsers) {
  auto calls = kj::refcounted<FairCalls>(timer_);
  auto ann = calls->user("ann");
  for (int i = 0; i < 3; ++i)
    ann->inTurn([]() -> kj::Promise<void> { return kj::READY_NOW; }).wait(io_.waitScope);
  EXPECT_GT(done_, 0u);
}

TEST(AnIdleLoop, LetsOutAtOnceWhatHasGathered) {
  kj::EventLoop loop;
  kj::WaitScope scope(loop);
  kj::TimerImpl standing(kj::origin<kj::TimePoint>());
  EXPECT_TRUE(untilIdle(standing).poll(scope));
}

}  // namespace tarcil::turns_test
