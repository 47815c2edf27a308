#include "rpc/turns.h"

#include <gtest/gtest.h>
#include <kj/async-io.h>

#include <vector>

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

TEST_F(ABusyLoop, GivesTurnsToAll) {
  Turns turns(timer_, 2);
  for (int i = 0; i < 7; ++i) turns.take().wait(io_.waitScope);
}

TEST(TurnsTest, AreOfSoManyAtOnceInTheOrderInWhichTheyCame) {
  kj::EventLoop loop;
  kj::WaitScope scope(loop);
  kj::TimerImpl timer(kj::origin<kj::TimePoint>());
  Turns turns(timer, 2);
  std::vector<int> had;
  std::vector<kj::Promise<void>> all;
  for (int i = 0; i < 6; ++i) {
    all.push_back(turns.take().then([&had, i]() { had.push_back(i); }).eagerlyEvaluate(nullptr));
  }
  const auto look = [&]() {
    scope.poll();
    timer.advanceTo(timer.now());
    scope.poll();
  };
  scope.poll();
  EXPECT_EQ(had, (std::vector<int>{0, 1}));
  all[2] = nullptr;  // it has gone
  look();
  EXPECT_EQ(had, (std::vector<int>{0, 1, 3, 4}));
  all[0] = turns.take().then([&had]() { had.push_back(6); }).eagerlyEvaluate(nullptr);
  scope.poll();
  EXPECT_EQ(had.size(), 4u);
  for (int i = 0; i < 3; ++i) look();
  EXPECT_EQ(had, (std::vector<int>{0, 1, 3, 4, 5, 6}));
}

TEST(AnIdleLoop, LetsOutAtOnceWhatHasGathered) {
  kj::EventLoop loop;
  kj::WaitScope scope(loop);
  kj::TimerImpl standing(kj::origin<kj::TimePoint>());
  EXPECT_TRUE(untilIdle(standing).poll(scope));
}

}  // namespace tarcil::turns_test
