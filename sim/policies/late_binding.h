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
#include "sim/ground_truth/ground_truth.h"
#include "sim/policies/scheduler.h"
#include "sim/world.h"

namespace tarcil::sim {

struct LateBindingOptions {
  double probeRatio = 2;
  bool adaptRatio = false;       // to the load, in place of probeRatio
  bool carriesProfiles = false;  // reservations are passed over where their tasks do not bear the contention
  bool cancel = true;            // whether reservations are cancelled once the last task is given away
  Duration oneWay = std::chrono::microseconds(500);
};

// One agent stands for all: they share nothing but the servers' queues. No message is lost here, so nothing
// is ever repeated. Requires: every task takes one unit.
class LateBinding final : public Scheduler {
 public:
  // `belief`: what is known of applications and platforms; it outlives this.
  LateBinding(World& world, const Belief& belief, const LateBindingOptions& options, Rng rng);

  void jobArrived(JobNumber job) override;
  void taskEnded(TaskNumber task, ServerNumber server) override;
  void received(const Message& message) override;

 private:
  using Letter = std::variant<late::Reserve, late::Cancel, late::Give, late::Forget, late::Ask,
                              late::NotStarted, late::Ended>;
  // Kinds of messages: a letter on its way, and the time at which a queue looks again at what it passed over.
  enum Kind : uint8_t { kLetter, kLook };

  MonotonicTime now() const { return MonotonicTime(world_.now()); }
  // A node, as agents know them.
  using Node = ServerId;

  void post(const Letter& letter, Node node);
  void deliver(const Letter& letter, Node node);
  // What the scheduler and the queue of a node want done.
  void carryOut();
  void carryOut(Node node);

  World& world_;
  const Belief& belief_;
  const LateBindingOptions options_;
  Rng rng_;
  late::JobScheduler scheduler_;
  std::vector<late::ReservationQueue> queues_;  // by node
  std::vector<ServerNumber> serverOf_;          // by node
  std::vector<MonotonicTime> looks_;            // by node: when its queue is looked at next
  std::unordered_map<late::JobNumber, JobNumber> jobs_;
  // By task, while it runs: where it does.
  struct RunningAt {
    Node node = 0;
    late::SlotLeaseId lease = 0;
  };
  std::vector<RunningAt> places_;
  std::vector<Letter> letters_;   // under way
  std::vector<uint32_t> unused_;  // of them
  late::SchedulerActions wanted_;
  late::QueueActions wantedByQueue_;
};

}  // namespace tarcil::sim
