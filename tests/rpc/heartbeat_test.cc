// Peers that are there and say nothing.
#include "rpc/heartbeat.h"

#include <gtest/gtest.h>
#include <kj/debug.h>

#include <string>
#include <vector>

#include "rpc/errors.h"
#include "tests/rpc/forwarded_connection.h"

namespace tarcil::heartbeat_test {

// One end of a pipe is listened to; what the other does is written out.
class AHeartbeat : public ClockedTest {
 protected:
  AHeartbeat() { reading_ = readOn().eagerlyEvaluate(nullptr); }
  ~AHeartbeat() noexcept override = default;

  bool isSilent() { return silent_.poll(io_.waitScope); }
  void say(const char* word) { peer_->write(word, 1).wait(io_.waitScope); }

  kj::TwoWayPipe pipe_ = kj::newTwoWayPipe();
  kj::Own<kj::AsyncIoStream> peer_ = kj::mv(pipe_.ends[1]);
  Heartbeat heartbeat_{timer_};
  kj::Own<kj::AsyncIoStream> stream_ = heartbeat_.listenTo(kj::mv(pipe_.ends[0]));
  int asked_ = 0;
  int dropped_ = 0;  // of what was asked
  kj::Promise<void> silent_ = heartbeat_.silence([this]() -> kj::Promise<void> {
    ++asked_;
    return kj::Promise<void>(kj::NEVER_DONE).attach(kj::defer([this]() { ++dropped_; }));
  });
  kj::Array<kj::byte> buffer_ = kj::heapArray<kj::byte>(1 << 10);
  bool readsOn_ = true;
  kj::Promise<void> reading_ = nullptr;

 private:
  kj::Promise<void> readOn() {
    if (!readsOn_) return kj::READY_NOW;
    return stream_->tryRead(buffer_.begin(), 1, buffer_.size()).then([this](size_t) { return readOn(); });
  }
};

TEST_F(AHeartbeat, StopsWhereNothingComesThoughThePeerIsAsked) {
  look(kLooksUntilSilent - 1);
  EXPECT_EQ(asked_, 1) << "again and again would only fill what the peer does not read";
  EXPECT_FALSE(isSilent());
  look();
  EXPECT_TRUE(isSilent());
}

// The call goes before the connection that it is made on.
TEST_F(AHeartbeat, DropsWhatItAsksWithThePromise) {
  look(2);
  ASSERT_EQ(asked_, 1);
  EXPECT_EQ(dropped_, 0);
  silent_ = nullptr;
  EXPECT_EQ(dropped_, 1);
}

TEST_F(AHeartbeat, GoesOnWhereAnythingComes) {
  for (int i = 0; i < 3; ++i) {
    look(kLooksUntilSilent - 1);
    say(".");
  }
  look(kLooksUntilSilent - 1);
  EXPECT_FALSE(isSilent());
}

TEST_F(AHeartbeat, IsNotListenedForWhereNobodyReads) {
  readsOn_ = false;
  say(".");
  look(100);
  EXPECT_FALSE(isSilent());
}

TEST_F(AHeartbeat, GoesOnWhereThePeerTakesALongMessageSlowly) {
  const std::string message(1 << 20, 'x');
  auto writing = stream_->write(message.data(), message.size()).eagerlyEvaluate(nullptr);
  auto taken = kj::heapArray<kj::byte>(128 << 10);
  for (size_t left = message.size(); left > 0; left -= taken.size()) {
    look(kLooksUntilSilent - 1);
    peer_->read(taken.begin(), taken.size()).wait(io_.waitScope);
  }
  EXPECT_FALSE(isSilent());
  writing.wait(io_.waitScope);
  look(kLooksUntilSilent + 1);
  EXPECT_TRUE(isSilent());
}

class Port final : public wire::MonitorPort::Server {
 protected:
  kj::Promise<void> authenticate(AuthenticateContext) override { return kj::READY_NOW; }
  kj::Promise<void> report(ReportContext) override { return kj::NEVER_DONE; }
};

class AConnection : public ForwardedConnection {};

TEST_F(AConnection, OfARoleThatSaysNothingEndsAtBothEnds) {
  serveAs(Peer::kRole, kj::heap<Port>());
  auto call = port_.reportRequest().send().ignoreResult().then(
      []() { return ErrorCode::kInternal; },
      [](kj::Exception&& exception) { return fromException(exception).code; });
  look(100);
  EXPECT_FALSE(call.poll(io_.waitScope)) << "both answer, though the call is under way";
  stopForwarding();
  look(kLooksUntilSilent + 1);
  EXPECT_TRUE(isDropped());
  ASSERT_TRUE(call.poll(io_.waitScope));
  EXPECT_EQ(call.wait(io_.waitScope), ErrorCode::kUnavailable);
}

// While a new one is tried, which takes seconds where the network has gone.
TEST_F(AConnection, ThatHasEndedMayBeKept) {
  serveAs(Peer::kRole, kj::heap<Port>());
  toServer_ = nullptr;
  stopAnswers();
  ends_.clear();
  look(3 * kLooksUntilSilent);
  EXPECT_TRUE(client_->onDisconnect().poll(io_.waitScope));
  auto call = port_.reportRequest().send().ignoreResult();
  ASSERT_TRUE(call.poll(io_.waitScope));
  EXPECT_THROW(call.wait(io_.waitScope), kj::Exception);
}

TEST_F(AConnection, OfAUserWhoDoesNotAnswerStaysAtTheServer) {
  serveAs(Peer::kUser, kj::heap<Port>());
  stopForwarding();
  look(100);
  EXPECT_FALSE(isDropped());
}

}  // namespace tarcil::heartbeat_test
