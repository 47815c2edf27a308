// A connection through something that forwards its bytes, and can stop to.
#pragma once

#include <gtest/gtest.h>
#include <kj/async-io.h>
#include <kj/vector.h>

#include <string>

#include "rpc/connection.h"
#include "rpc/heartbeat.h"
#include "schema/master.capnp.h"
#include "tests/support/scratch_folder.h"

namespace tarcil {

// On an event loop and a clock that the test moves.
class ClockedTest : public testing::Test {
 protected:
  ~ClockedTest() noexcept override = default;

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

// A server, and a pipe to it that can be stopped: nothing is forwarded then, and the ends stand.
class ForwardedConnection : public ClockedTest {
 protected:
  ~ForwardedConnection() noexcept override = default;

  void serveAs(Peer peer, wire::MonitorPort::Client port) {
    served_ = kj::mv(port);
    auto listener = listenAt(net().network, net().io, addressOf("server")).wait(io_.waitScope);
    serving_ = serve(timer_, kj::mv(listener.receiver),
                     [this, peer](const LetIn& letIn) -> capnp::Capability::Client {
                       letIn(peer);
                       return served_;
                     })
                   .eagerlyEvaluate(nullptr);
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
    toServer_ = ends_[0]->pumpTo(*ends_[1]).ignoreResult().eagerlyEvaluate(nullptr);
    forwardAnswers();
    client_ = connecting.wait(io_.waitScope);
    port_ = client_->bootstrap().castAs<wire::MonitorPort>();
    port_.authenticateRequest().send().ignoreResult().wait(io_.waitScope);
  }
  void forwardAnswers() { toClient_ = ends_[1]->pumpTo(*ends_[0]).ignoreResult().eagerlyEvaluate(nullptr); }
  // The client takes nothing.
  void stopAnswers() { toClient_ = nullptr; }
  void stopForwarding() {
    toServer_ = nullptr;
    stopAnswers();
    dropped_ = ends_[1]->readAllBytes().ignoreResult();
  }
  // The server has dropped its connection.
  bool isDropped() { return dropped_.poll(io_.waitScope); }

  Net net() { return {io_.provider->getNetwork(), *io_.lowLevelProvider, timer_}; }
  std::string addressOf(const std::string& name) const { return "unix:" + folder_.at(name); }

  ScratchFolder folder_;
  wire::MonitorPort::Client served_ = nullptr;
  kj::Promise<void> serving_ = nullptr;
  kj::Vector<kj::Own<kj::AsyncIoStream>> ends_;
  kj::Promise<void> toServer_ = nullptr;
  kj::Promise<void> toClient_ = nullptr;
  kj::Promise<void> dropped_ = nullptr;
  kj::Own<Connection> client_;
  wire::MonitorPort::Client port_ = nullptr;
};

}  // namespace tarcil
