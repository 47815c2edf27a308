// A peer's connection to the master, as TCP has it: messages come in order or not at all, and each side
// notices in its own time that nothing comes any more.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "sim/faults/etcd_model.h"
#include "sim/faults/virtual_world.h"

namespace tarcil::sim {

class MasterProcess;

// Of a cluster, in the order in which peers are given them; all there before anything starts.
using Masters = std::vector<std::unique_ptr<MasterProcess>>;

// One connection, from its making to its end; its session is the master's name for it. Held by shared_ptr:
// messages that are under way keep it.
class Line : public std::enable_shared_from_this<Line> {
 public:
  Line(VirtualWorld& world, MasterProcess& master, uint64_t session)
      : world_(world), master_(master), session_(session) {}

  // At its other end.
  MasterProcess& master() const { return master_; }
  uint64_t session() const { return session_; }

  // `repeat`, where given, is what a second copy of the message does, should there be one.
  void toMaster(std::function<void()> message, std::function<void()> repeat = nullptr) {
    send(toMaster_, std::move(message), std::move(repeat));
  }
  void toPeer(std::function<void()> message, std::function<void()> repeat = nullptr) {
    send(toPeer_, std::move(message), std::move(repeat));
  }

  // Nothing comes out at that end any more, also of what is under way.
  void closeAtMaster() { toMaster_.isOpen = false; }
  void closeAtPeer() { toPeer_.isOpen = false; }
  // Whether the peer has not given it up yet.
  bool isInUse() const { return toPeer_.isOpen; }

  // After everything that is under way to the master, and at least `after` from now.
  void lastToMaster(Duration after, std::function<void()> message);

 private:
  struct Way {
    bool isOpen = true;
    MonotonicTime last{};  // when the latest message comes out
  };

  void send(Way& way, std::function<void()> message, std::function<void()> repeat);
  void carry(Way& way, MonotonicTime when, std::function<void()> message);

  VirtualWorld& world_;
  MasterProcess& master_;
  const uint64_t session_;
  Way toMaster_, toPeer_;
};

// What a peer has: a line at a time, to a master that takes it. It makes another when one is gone, until the
// peer stops.
class Connection {
 public:
  // What the peer does when the connection stands, and when it has noticed that it does not any more.
  struct Peer {
    virtual void connected() = 0;
    virtual void disconnected() = 0;

   protected:
    ~Peer() = default;
  };

  // All outlive it, and it outlives the run.
  Connection(VirtualWorld& world, const Masters& masters, Peer& peer);

  // The peer's process starts, or dies: the master notices later, the peer never.
  void start();
  void stop();

  // The network between the two is cut for so long; each side notices in its own time.
  void cutFor(Duration duration);
  bool isCut() const { return world_.now().steady < cutUntil_; }
  // The connection breaks and can be made again at once; of what is under way some may still arrive.
  void breakOff();
  // For so long the peer's process has no descriptor for another connection; the one that there is stays.
  void runOutOfDescriptors(Duration duration) { noDescriptorsUntil_ = world_.now().steady + duration; }
  bool hasDescriptors() const { return world_.now().steady >= noDescriptorsUntil_; }
  // The cut, if there is one, is over, and there are descriptors.
  void heal() { cutUntil_ = noDescriptorsUntil_ = {}; }

  // That master died; a peer that had a line to it notices.
  void masterDied(const MasterProcess& master);
  // That master answers nothing for so long.
  void masterIsSilent(const MasterProcess& master, Duration duration);

  // Requires: connected() was called, and disconnected() not since.
  Line& line() { return *line_; }
  const std::shared_ptr<Line>& shared() const { return line_; }
  bool isUp() const { return line_ != nullptr; }

 private:
  void connect();
  // One that takes connections, and leads in no earlier term than the peer has heard of.
  MasterProcess* findMaster();
  void tellMaster(const std::shared_ptr<Line>& line);
  void tellPeer();
  Duration noticed();

  VirtualWorld& world_;
  const Masters& masters_;
  Peer& peer_;
  bool running_ = false;
  Term highest_ = 0;            // that the peer has heard of (rpc/highest_term.h)
  std::shared_ptr<Line> line_;  // as the peer sees it; null where it knows of none
  uint64_t attempts_ = 0;       // to connect, and to notice: the latest counts
  MonotonicTime cutUntil_{};
  MonotonicTime noDescriptorsUntil_{};
};

}  // namespace tarcil::sim
