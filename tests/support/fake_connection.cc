#include "tests/support/fake_connection.h"

#include "tests/support/fake_master.h"

namespace tarcil {
namespace {

constexpr Duration kReconnect = std::chrono::milliseconds(50);

}  // namespace

FakeConnection::FakeConnection(FakeWorld& world, FakeMaster& master, Peer& peer)
    : world_(world), master_(master), peer_(peer) {
  master_.add(*this);
}

void FakeConnection::start() {
  running_ = true;
  connect();
}

void FakeConnection::stop() {
  running_ = false;
  ++life_;
  if (up_) tellMasterLater();
  up_ = false;
}

void FakeConnection::cutFor(Duration duration) {
  cutUntil_ = world_.now().steady + duration;
  if (!up_) return;
  tellMasterLater();
  tellPeerLater();
}

void FakeConnection::masterDied() {
  if (up_) tellPeerLater();
}

void FakeConnection::connect() {
  if (master_.alive() && world_.now().steady >= cutUntil_) {
    up_ = true;
    session_ = world_.nextNumber();
    peer_.connected();
    return;
  }
  world_.after(kReconnect, [this, life = life_] {
    if (life == life_) connect();
  });
}

void FakeConnection::carry(MonotonicTime& last, std::function<void()> message) {
  if (!up_) return;
  last = std::max(last, world_.now().steady + world_.delay());
  world_.at(last, [this, life = life_, message = std::move(message)] {
    if (life == life_) message();
  });
}

void FakeConnection::tellMasterLater() {
  world_.after(world_.delay(), [this, session = session_] { master_.detach(session); });
}

void FakeConnection::tellPeerLater() {
  up_ = false;
  ++life_;
  world_.after(world_.delay(), [this, life = life_] {
    if (life != life_) return;
    peer_.disconnected();
    connect();
  });
}

}  // namespace tarcil
