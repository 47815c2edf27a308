#include "rpc/fair_calls.h"

#include <gtest/gtest.h>
#include <kj/async-io.h>

#include <algorithm>
#include <string>
#include <vector>

#include "rpc/errors.h"

namespace tarcil::fair_calls_test {

constexpr UserBounds kBounds{.connections = 2,
                             .waitingTurns = 5,
                             .waitingCalls = 10,
                             .waitingBytes = 1'000,
                             .largeRead = 100,
                             .largeBytesPerSecond = 1'000,
                             .seats = {{{2, 1, 100, 300}, {1, 1, 100, 300}, {1, 1, 100, 300}}}};

class FairCallsTest : public testing::Test {
 public:
  ~FairCallsTest() noexcept override = default;

 protected:
  // Adds the caller's name to `made`, and takes so long.
  kj::Promise<void> call(FairCalls::User& user, Duration takes = std::chrono::microseconds(100)) {
    return user.inTurn([this, name = user.name(), takes]() -> kj::Promise<void> {
      made_.push_back(name);
      time_ += takes;
      return kj::READY_NOW;
    });
  }
  size_t madeOf(const std::string& name) const {
    return static_cast<size_t>(std::count(made_.begin(), made_.end(), name));
  }

  kj::AsyncIoContext io_ = kj::setupAsyncIo();
  Duration time_{};
  std::vector<std::string> made_;
  kj::Own<FairCalls> calls_ = kj::refcounted<FairCalls>(
      io_.provider->getTimer(), [this]() { return time_; }, kBounds);
  kj::Own<FairCalls::User> ann_ = calls_->user("ann"), bob_ = calls_->user("bob");
};

TEST_F(FairCallsTest, MakesEachCallOnceAndTellsWhatBecameOfIt) {
  auto good = call(*ann_);
  auto bad = ann_->inTurn([]() -> kj::Promise<void> { return KJ_EXCEPTION(FAILED, "no"); });
  auto thrown = ann_->inTurn([]() -> kj::Promise<void> { KJ_FAIL_REQUIRE("neither"); });
  good.wait(io_.waitScope);
  EXPECT_THROW(bad.wait(io_.waitScope), kj::Exception);
  EXPECT_THROW(thrown.wait(io_.waitScope), kj::Exception);
  EXPECT_EQ(madeOf("ann"), 1u);
}

TEST_F(FairCallsTest, TakesUsersInTurns) {
  kj::Vector<kj::Promise<void>> all;
  for (int i = 0; i < 100; ++i) all.add(call(*ann_));
  auto bobs = call(*bob_);
  bobs.wait(io_.waitScope);
  EXPECT_LE(std::ranges::find(made_, "bob") - made_.begin(), 2);
  kj::joinPromises(all.releaseAsArray()).wait(io_.waitScope);
  EXPECT_EQ(madeOf("ann"), 100u);
}

// What else there is to do goes on between: a call of a millisecond is a step of its own.
TEST_F(FairCallsTest, HoldsNobodyUpForLong) {
  auto first = call(*ann_, std::chrono::milliseconds(1));
  kj::Vector<kj::Promise<void>> all;
  for (int i = 0; i < 50; ++i) all.add(call(*ann_, std::chrono::milliseconds(1)));
  first.wait(io_.waitScope);
  EXPECT_LE(made_.size(), 2u);
  kj::joinPromises(all.releaseAsArray()).wait(io_.waitScope);
}

TEST_F(FairCallsTest, DoesNotMakeACallWhoseCallerHasGone) {
  { auto dropped = call(*ann_); }
  call(*ann_).wait(io_.waitScope);
  EXPECT_EQ(madeOf("ann"), 1u);
}

TEST_F(FairCallsTest, GivesAUserSoManySeatsAndTheNextWhenOneIsLeft) {
  auto first = ann_->seat(SeatKind::kSubmission, 1).wait(io_.waitScope),
       second = ann_->seat(SeatKind::kSubmission, 1).wait(io_.waitScope);
  auto third = ann_->seat(SeatKind::kSubmission, 1);
  EXPECT_FALSE(third.poll(io_.waitScope));
  EXPECT_TRUE(bob_->seat(SeatKind::kSubmission, 1).poll(io_.waitScope)) << "of another user";
  first = nullptr;
  EXPECT_TRUE(third.poll(io_.waitScope));
}

TEST_F(FairCallsTest, GivesAUserFewerSeatsBesideOthers) {
  call(*bob_).wait(io_.waitScope);
  call(*ann_).wait(io_.waitScope);
  auto first = ann_->seat(SeatKind::kSubmission, 1).wait(io_.waitScope);
  auto second = ann_->seat(SeatKind::kSubmission, 1);
  EXPECT_FALSE(second.poll(io_.waitScope));
  first = nullptr;
  EXPECT_TRUE(second.poll(io_.waitScope));
}

TEST_F(FairCallsTest, CountsTheBytesOfSeatsAndLetsOneBeLarger) {
  auto large = ann_->seat(SeatKind::kSubmission, 1'000).wait(io_.waitScope);
  auto small = ann_->seat(SeatKind::kSubmission, 1);
  EXPECT_FALSE(small.poll(io_.waitScope));
  large = nullptr;
  EXPECT_TRUE(small.poll(io_.waitScope));
}

TEST_F(FairCallsTest, CountsTheBytesOfSeatsOfAllUsers) {
  kj::Vector<kj::Own<FairCalls::Seat>> held;
  kj::Vector<kj::Own<FairCalls::User>> users;
  for (const char* name : {"a", "b", "c"}) {
    users.add(calls_->user(name));
    held.add(users.back()->seat(SeatKind::kSubmission, 100).wait(io_.waitScope));
  }
  auto more = ann_->seat(SeatKind::kSubmission, 1);
  EXPECT_FALSE(more.poll(io_.waitScope));
  held.removeLast();
  EXPECT_TRUE(more.poll(io_.waitScope));
}

TEST_F(FairCallsTest, CountsKindsOfSeatsApart) {
  auto query = ann_->seat(SeatKind::kQuery, 1).wait(io_.waitScope);
  auto another = ann_->seat(SeatKind::kQuery, 1);
  EXPECT_FALSE(another.poll(io_.waitScope));
  EXPECT_TRUE(ann_->seat(SeatKind::kSubmission, 1).poll(io_.waitScope));
  query = nullptr;
  EXPECT_TRUE(another.poll(io_.waitScope));
}

TEST_F(FairCallsTest, TakesNoNoticeOfSeatsWhoseWaitersHaveGone) {
  auto first = ann_->seat(SeatKind::kSubmission, 100).wait(io_.waitScope);
  { auto gone = ann_->seat(SeatKind::kSubmission, 50); }
  auto next = ann_->seat(SeatKind::kSubmission, 50);
  first = nullptr;
  EXPECT_TRUE(next.poll(io_.waitScope));
}

TEST_F(FairCallsTest, ReadsNoMoreWhileTooManyCallsWait) {
  kj::Vector<kj::Promise<void>> all;
  for (size_t i = 0; i < kBounds.waitingTurns; ++i) {
    EXPECT_TRUE(ann_->mayRead());
    all.add(call(*ann_, std::chrono::microseconds(400)));  // not all at once
  }
  EXPECT_FALSE(ann_->mayRead());
  EXPECT_TRUE(bob_->mayRead());
  ann_->untilMayRead().wait(io_.waitScope);
  EXPECT_EQ(madeOf("ann"), kBounds.waitingTurns);
  EXPECT_TRUE(ann_->mayRead());
}

TEST_F(FairCallsTest, ReadsNoMoreThanSoManyBytesBeforeTheCallsInThemAreTaken) {
  auto waits = call(*ann_);
  ann_->hasRead(kBounds.waitingBytes);
  EXPECT_FALSE(ann_->mayRead());
  ann_->untilMayRead().wait(io_.waitScope);
  EXPECT_EQ(madeOf("ann"), 1u);
  EXPECT_TRUE(ann_->mayRead());
  ann_->hasRead(kBounds.waitingBytes);
  EXPECT_TRUE(ann_->untilMayRead().poll(io_.waitScope)) << "where none waits, it goes on";
}

TEST_F(FairCallsTest, ReadsNoMoreWhileSubmissionsWaitForSeats) {
  auto first = ann_->seat(SeatKind::kSubmission, 100).wait(io_.waitScope);
  kj::Vector<kj::Promise<kj::Own<FairCalls::Seat>>> waiting;
  for (size_t i = 0; i < kBounds.waitingCalls; ++i) waiting.add(ann_->seat(SeatKind::kSubmission, 1));
  auto reading = ann_->untilMayRead();
  EXPECT_FALSE(reading.poll(io_.waitScope));
  first = nullptr;
  for (auto& each : waiting) each.wait(io_.waitScope);
  EXPECT_TRUE(reading.poll(io_.waitScope));
}

TEST_F(FairCallsTest, ReadsNoMoreThanSoManyBytesWhileSubmissionsWaitForSeats) {
  auto first = ann_->seat(SeatKind::kSubmission, 100).wait(io_.waitScope);
  auto second = ann_->seat(SeatKind::kSubmission, 1);
  ann_->hasRead(kBounds.waitingBytes);
  call(*ann_).wait(io_.waitScope);
  auto reading = ann_->untilMayRead();
  EXPECT_FALSE(reading.poll(io_.waitScope)) << "what waits may have them all";
  first = nullptr;
  second.wait(io_.waitScope);
  EXPECT_TRUE(reading.poll(io_.waitScope));
}

// Else whoever has the seat could not send what it is for, and nobody would get it.
TEST_F(FairCallsTest, ReadsOnWhileUploadsWaitForSeats) {
  auto first = ann_->seat(SeatKind::kUpload, 100).wait(io_.waitScope);
  auto second = ann_->seat(SeatKind::kUpload, 100);
  EXPECT_FALSE(second.poll(io_.waitScope));
  ann_->hasRead(kBounds.waitingBytes);
  EXPECT_FALSE(ann_->mayRead());
  EXPECT_TRUE(ann_->untilMayRead().poll(io_.waitScope));
  first = nullptr;
  EXPECT_TRUE(second.poll(io_.waitScope));
}

TEST_F(FairCallsTest, LetsNoMoreUploadsWaitThanCalls) {
  auto first = ann_->seat(SeatKind::kUpload, 100).wait(io_.waitScope);
  kj::Vector<kj::Promise<kj::Own<FairCalls::Seat>>> waiting;
  for (size_t i = 0; i < kBounds.waitingCalls; ++i) waiting.add(ann_->seat(SeatKind::kUpload, 1));
  KJ_IF_MAYBE (refused, kj::runCatchingExceptions(
                            [this]() { ann_->seat(SeatKind::kUpload, 1).wait(io_.waitScope); })) {
    EXPECT_EQ(fromException(*refused).code, ErrorCode::kExhausted);
  } else {
    FAIL() << "one more waits";
  }
  EXPECT_TRUE(bob_->seat(SeatKind::kUpload, 1).poll(io_.waitScope));
}

TEST_F(FairCallsTest, ReadsLargeMessagesOfAUserOneAfterTheOther) {
  EXPECT_FALSE(ann_->isLarge(kBounds.largeRead));
  EXPECT_TRUE(ann_->isLarge(kBounds.largeRead + 1));
  auto first = ann_->largeRead(1).wait(io_.waitScope);
  auto second = ann_->largeRead(1), third = ann_->largeRead(1);
  EXPECT_FALSE(second.poll(io_.waitScope));
  EXPECT_TRUE(bob_->largeRead(1).poll(io_.waitScope));
  { auto gone = kj::mv(second); }
  first = nullptr;
  EXPECT_TRUE(third.poll(io_.waitScope));
}

TEST(LargeReadsBesideOthers, AreOfSoManyBytesASecond) {
  kj::EventLoop loop;
  kj::WaitScope scope(loop);
  kj::TimerImpl timer(kj::origin<kj::TimePoint>());
  const auto pass = [&timer](kj::Duration time) { timer.advanceTo(timer.now() + time); };
  pass(1 * kj::HOURS);
  auto calls = kj::refcounted<FairCalls>(timer, threadTime, kBounds);
  auto ann = calls->user("ann"), bob = calls->user("bob");
  const auto call = [&scope](FairCalls::User& user) {
    user.inTurn([]() -> kj::Promise<void> { return kj::READY_NOW; }).wait(scope);
  };
  call(*ann);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(ann->largeRead(500).poll(scope)) << "nobody else is there";
  call(*bob);
  EXPECT_TRUE(ann->largeRead(500).poll(scope));
  {
    auto gone = ann->largeRead(100);
    EXPECT_FALSE(gone.poll(scope));
  }
  auto next = ann->largeRead(200), last = ann->largeRead(100);
  EXPECT_TRUE(bob->largeRead(500).poll(scope));
  pass(600 * kj::MILLISECONDS - 1 * kj::NANOSECONDS);
  EXPECT_FALSE(next.poll(scope));
  pass(1 * kj::NANOSECONDS);
  EXPECT_TRUE(next.poll(scope));
  next.wait(scope);
  pass(199 * kj::MILLISECONDS);
  EXPECT_FALSE(last.poll(scope)) << "though it was asked for before the one before it was over";
  pass(1 * kj::MILLISECONDS);
  EXPECT_TRUE(last.poll(scope));
  last.wait(scope);
  call(*ann);
  pass(200 * kj::MILLISECONDS);
  EXPECT_TRUE(ann->largeRead(5'000).poll(scope)) << "bob has said nothing for a second";
  EXPECT_TRUE(ann->largeRead(500).poll(scope)) << "and nothing is owed";
}

TEST_F(FairCallsTest, BoundsConnections) {
  EXPECT_TRUE(ann_->addConnection());
  EXPECT_TRUE(ann_->addConnection());
  EXPECT_FALSE(ann_->addConnection());
  EXPECT_TRUE(bob_->addConnection());
  ann_->removeConnection();
  EXPECT_TRUE(ann_->addConnection());
}

TEST_F(FairCallsTest, KnowsAUserByNameWhileAnybodyHoldsThem) {
  EXPECT_EQ(calls_->user("ann").get(), ann_.get());
  ann_->addConnection();
  ann_ = nullptr;
  ann_ = calls_->user("ann");
  EXPECT_TRUE(ann_->addConnection());
  EXPECT_TRUE(ann_->addConnection()) << "anew";
}

// Whoever waits for something as a role ends gives its seat back when the event loop has gone.
TEST(FairCallsThatHaveStopped, NeedNoEventLoop) {
  kj::Own<FairCalls::Seat> seat;
  {
    auto io = kj::setupAsyncIo();
    auto calls = kj::refcounted<FairCalls>(io.provider->getTimer());
    seat = calls->user("ann")->seat(SeatKind::kSubmission, 1).wait(io.waitScope);
    calls->stop();
  }
  EXPECT_NO_THROW(seat = nullptr);
}

TEST(FairCallsThatHaveStopped, MakeNoneThatWaitsOrComesLater) {
  for (const int callsBefore : {0, 1}) {
    size_t made = 0;
    auto io = kj::setupAsyncIo();
    auto calls = kj::refcounted<FairCalls>(io.provider->getTimer());
    auto ann = calls->user("ann");
    const auto call = [&made, &ann]() {
      return ann->inTurn([&made]() -> kj::Promise<void> {
        ++made;
        return kj::READY_NOW;
      });
    };
    for (int i = 0; i < callsBefore; ++i) call().wait(io.waitScope);
    auto waiting = call();
    calls->stop();
    EXPECT_THROW(waiting.wait(io.waitScope), kj::Exception);
    EXPECT_THROW(call().wait(io.waitScope), kj::Exception);
    EXPECT_EQ(made, static_cast<size_t>(callsBefore));
    ann = nullptr;
    EXPECT_FALSE(calls->isShared()) << "nothing that was given up holds it";
  }
}

}  // namespace tarcil::fair_calls_test
