#include "sim/faults/connection.h"

#include <algorithm>

#include "sim/faults/master_process.h"

namespace tarcil::sim {
namespace {

constexpr Duration kReconnect = std::chrono::milliseconds(50);

}  // namespace

// --- Line -------------------------------------------------------------------------------------------------

void Line::send(Way& way, std::function<void()> message, std::function<void()> repeat) {
  if (!way.isOpen) return;
  way.last = std::max(way.last, world_.now().steady + world_.delay());
  if (repeat && world_.oneIn(world_.repeatedOneIn)) {
    carry(way, way.last + world_.upTo(world_.repeatedWithin), std::move(repeat));
  }
  carry(way, way.last, std::move(message));
}

void Line::carry(Way& way, MonotonicTime when, std::function<void()> message) {
  world_.at(when, [self = shared_from_this(), &way, message = std::move(message)] {
    if (way.isOpen) message();
  });
}

void Line::lastToMaster(Duration after, std::function<void()> message) {
  world_.at(std::max(toMaster_.last, world_.now().steady + after), std::move(message));
}

// --- Connection -------------------------------------------------------------------------------------------

Connection::Connection(VirtualWorld& world, MasterProcess& master, Peer& peer)
    : world_(world), master_(master), peer_(peer) {
  master_.add(*this);
}

void Connection::start() {
  running_ = true;
  connect();
}

void Connection::stop() {
  running_ = false;
  ++attempts_;
  if (!line_) return;
  line_->closeAtPeer();
  tellMaster(line_);
  line_.reset();
}

void Connection::cutFor(Duration duration) {
  cutUntil_ = world_.now().steady + duration;
  if (!line_) return;
  line_->closeAtMaster();
  line_->closeAtPeer();
  tellMaster(line_);
  tellPeer();
}

void Connection::breakOff() {
  if (!line_) return;
  line_->closeAtPeer();
  if (world_.oneIn(2)) line_->closeAtMaster();
  tellMaster(line_);
  tellPeer();
}

void Connection::masterDied() {
  if (!line_) return;
  line_->closeAtMaster();
  tellPeer();
}

void Connection::connect() {
  if (master_.accepts() && !isCut() && hasDescriptors()) {
    line_ = std::make_shared<Line>(world_, world_.nextNumber());
    peer_.connected();
    return;
  }
  world_.after(kReconnect, [this, attempt = ++attempts_] {
    if (attempt == attempts_) connect();
  });
}

void Connection::tellMaster(const std::shared_ptr<Line>& line) {
  line->lastToMaster(noticed(), [this, line] {
    line->closeAtMaster();
    master_.detach(line->session());
  });
}

// What comes until then still counts, but for what the caller has stopped.
void Connection::tellPeer() {
  world_.after(noticed(), [this, attempt = ++attempts_] {
    if (attempt != attempts_) return;
    line_->closeAtPeer();
    line_.reset();
    peer_.disconnected();
    if (running_) connect();
  });
}

Duration Connection::noticed() {
  return world_.delay() + (isCut() ? world_.upTo(world_.silence) : Duration::zero());
}

}  // namespace tarcil::sim
