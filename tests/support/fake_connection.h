// A peer's connection to the master: carries messages in order each way, with random delays, and loses what
// is under way when it breaks. The peer opens it again until it stops.
#pragma once

#include <functional>

#include "tests/support/fake_world.h"

namespace tarcil {

class FakeMaster;

class FakeConnection {
 public:
  // What the peer does when the connection stands, and when it has noticed that it does not any more.
  struct Peer {
    virtual void connected() = 0;
    virtual void disconnected() = 0;

   protected:
    ~Peer() = default;
  };

  FakeConnection(FakeWorld& world, FakeMaster& master, Peer& peer);

  // The peer's process starts, or dies: the master notices later, the peer never.
  void start();
  void stop();

  // The network between the two is cut for so long; both notice.
  void cutFor(Duration duration);

  // The master died; the peer notices.
  void masterDied();

  // The number under which the master knows the peer. Requires: connected() was called, disconnected() not
  // since.
  uint64_t session() const { return session_; }

  void toMaster(std::function<void()> message) { carry(lastToMaster_, std::move(message)); }
  void toPeer(std::function<void()> message) { carry(lastToPeer_, std::move(message)); }

 private:
  void connect();
  void carry(MonotonicTime& last, std::function<void()> message);
  void tellMasterLater();
  void tellPeerLater();

  FakeWorld& world_;
  FakeMaster& master_;
  Peer& peer_;
  bool running_ = false;
  bool up_ = false;
  uint64_t life_ = 0;  // of the connection: rises with each break
  uint64_t session_ = 0;
  MonotonicTime cutUntil_{};
  MonotonicTime lastToMaster_{}, lastToPeer_{};
};

}  // namespace tarcil
