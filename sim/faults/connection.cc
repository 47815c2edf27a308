#include "sim/faults/connection.h"

#include <algorithm>

#include "sim/faults/master_process.h"

namespace tarcil::sim {
namespace {

constexpr Duration kReconnect = std::chrono::milliseconds(50);
// A peer gives up one that is silent for so long (rpc/heartbeat.h).
constexpr Duration kHeartbeats = std::chrono::seconds(5);

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

Connection::Connection(VirtualWorld& world, const Masters& masters, Peer& peer)
    : world_(world), masters_(masters), peer_(peer) {
  for (const auto& master : masters_) master->add(*this);
}

void Connection::start() {
  running_ = true;
  connect();
}

void Connection::stop() {
  running_ = false;
  highest_ = 0;
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

void Connection::masterDied(const MasterProcess& master) {
  if (!line_ || &line_->master() != &master) return;
  line_->closeAtMaster();
  tellPeer();
}

// Heartbeats say so after a while; the master hears of it when it runs again.
void Connection::masterIsSilent(const MasterProcess& master, Duration duration) {
  if (!line_ || &line_->master() != &master || duration < kHeartbeats) return;
  world_.after(kHeartbeats, [this, line = line_] {
    if (line == line_) breakOff();
  });
}

MasterProcess* Connection::findMaster() {
  std::vector<MasterProcess*> found;
  for (const auto& master : masters_) {
    if (master->accepts()) found.push_back(master.get());
  }
  if (found.empty()) return nullptr;
  MasterProcess* const master = found[found.size() == 1 ? 0 : world_.rng().below(found.size())];
  return master->term() < highest_ ? nullptr : master;
}

void Connection::connect() {
  MasterProcess* const master = isCut() || !hasDescriptors() ? nullptr : findMaster();
  if (master != nullptr) {
    highest_ = std::max(highest_, master->term());
    line_ = std::make_shared<Line>(world_, *master, world_.nextNumber());
    peer_.connected();
    return;
  }
  world_.after(kReconnect, [this, attempt = ++attempts_] {
    if (attempt == attempts_) connect();
  });
}

void Connection::tellMaster(const std::shared_ptr<Line>& line) {
  line->lastToMaster(noticed(), [line] {
    line->closeAtMaster();
    line->master().detach(line->session());
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
