// Late binding as the real system makes it (Sparrow, SOSP 2013): the logic of agents and monitors is that of
// latebinding/; messages are delays.
#pragma once

#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/rng.h"
#include "latebinding/job_scheduler.h"
#include "latebinding/reservation_queue.h"
#include "sim/policies/scheduler.h"
#include "sim/world.h"

namespace tarcil::sim {

struct LateBindingOptions {
  double probeRatio = 2;
  bool cancel = true;  // whether reservations are cancelled once the last task is given away
  Duration oneWay = std::chrono::microseconds(500);
};

// One agent stands for all: they share nothing but the servers' queues. No message is lost here, so nothing
// is ever repeated. Requires: every task takes one unit.
class LateBinding final : public Scheduler {
 public:
  LateBinding(World& world, const LateBindingOptions& options, Rng rng);

  void jobArrived(JobNumber job) override;
  void taskEnded(TaskNumber task, ServerNumber server) override;
  void received(const Message& message) override;

 private:
  using Letter = std::variant<late::Reserve, late::Cancel, late::Give, late::Forget, late::Ask,
                              late::NotStarted, late::Ended>;

  MonotonicTime now() const { return MonotonicTime(world_.now()); }
  // A node, as agents know them.
  using Node = ServerId;

  void post(const Letter& letter, Node node);
  void deliver(const Letter& letter, Node node);
  // What the scheduler and the queue of a node want done.
  void carryOut();
  void carryOut(Node node);

  World& world_;
  const LateBindingOptions options_;
  Rng rng_;
  late::JobScheduler scheduler_;
  std::vector<late::ReservationQueue> queues_;  // by node
  std::vector<ServerNumber> serverOf_;          // by node
  std::unordered_map<late::JobNumber, JobNumber> jobs_;
  // By task, while it runs: where it does.
  struct Place {
    Node node = 0;
    late::TurnNumber turn = 0;
  };
  std::vector<Place> places_;
  std::vector<Letter> letters_;   // under way
  std::vector<uint32_t> unused_;  // of them
  late::SchedulerActions wanted_;
  late::QueueActions wantedByQueue_;
};

}  // namespace tarcil::sim
