// Peers that are there and say nothing.
#include "rpc/heartbeat.h"

#include <gtest/gtest.h>
#include <kj/debug.h>

#include <string>
#include <vector>

#include "rpc/connection.h"
#include "rpc/errors.h"
#include "schema/master.capnp.h"
#include "tests/support/scratch_folder.h"

namespace tarcil::heartbeat_test {

class Looking : public testing::Test {
 protected:
  ~Looking() noexcept override = default;

  void look(int times = 1) {
    for (int i = 0; i < times; ++i) {
      io_.waitScope.poll();
      timer_.advanceTo(timer_.now() + kHeartbeat);
      io_.waitScope.poll();
    }
  }

  kj::AsyncIoContext io_ = kj::setupAsyncIo();
  kj::TimerImpl timer_{kj::origin<kj::TimePoint>()};
};

// One end of a pipe is listened to; what the other does is written out.
class AHeartbeat : public Looking {
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
  kj::Promise<void> silent_ = heartbeat_.silence([this]() -> kj::Promise<void> {
    ++asked_;
    return kj::NEVER_DONE;
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

// A server, and a pipe to it that can be stopped: nothing is forwarded then, and the ends stand.
class AConnection : public Looking {
 protected:
  ~AConnection() noexcept override = default;

  void serveAs(Peer peer) {
    auto listener = listenAt(net().network, net().io, addressOf("server")).wait(io_.waitScope);
    serving_ =
        serve(timer_, kj::mv(listener.receiver), [peer](const LetIn& letIn) -> capnp::Capability::Client {
          letIn(peer);
          return kj::heap<Port>();
        }).eagerlyEvaluate(nullptr);
    auto between = listenAt(net().network, net().io, addressOf("between")).wait(io_.waitScope);
    auto connecting = connect(net(), addressOf("between"));
    auto here = between.receiver->accept().wait(io_.waitScope);
    auto there = net()
                     .network.parseAddress(addressOf("server").c_str())
                     .wait(io_.waitScope)
                     ->connect()
                     .wait(io_.waitScope);
    ends_.add(kj::mv(here));
    ends_.add(kj::mv(there));
    pumps_.add(ends_[0]->pumpTo(*ends_[1]).ignoreResult().eagerlyEvaluate(nullptr));
    pumps_.add(ends_[1]->pumpTo(*ends_[0]).ignoreResult().eagerlyEvaluate(nullptr));
    client_ = connecting.wait(io_.waitScope);
    port_ = client_->bootstrap().castAs<wire::MonitorPort>();
    port_.authenticateRequest().send().ignoreResult().wait(io_.waitScope);
  }
  void stopForwarding() {
    pumps_.clear();
    dropped_ = ends_[1]->readAllBytes().ignoreResult();
  }
  // The server has dropped its connection.
  bool isDropped() { return dropped_.poll(io_.waitScope); }

  Net net() { return {io_.provider->getNetwork(), *io_.lowLevelProvider, timer_}; }
  std::string addressOf(const std::string& name) const { return "unix:" + folder_.at(name); }

  ScratchFolder folder_;
  kj::Promise<void> serving_ = nullptr;
  kj::Vector<kj::Own<kj::AsyncIoStream>> ends_;
  kj::Vector<kj::Promise<void>> pumps_;
  kj::Promise<void> dropped_ = nullptr;
  kj::Own<Connection> client_;
  wire::MonitorPort::Client port_ = nullptr;
};

TEST_F(AConnection, OfARoleThatSaysNothingEndsAtBothEnds) {
  serveAs(Peer::kRole);
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

TEST_F(AConnection, OfAUserWhoDoesNotAnswerStaysAtTheServer) {
  serveAs(Peer::kUser);
  stopForwarding();
  look(100);
  EXPECT_FALSE(isDropped());
}

}  // namespace tarcil::heartbeat_test
