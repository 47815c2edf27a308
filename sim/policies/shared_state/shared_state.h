// The shared-state policies as the real system makes them (Omega): the logic of a master, of its agents and
// their queue is that of master/logic and agent/logic. Messages and the disk are delays, tasks run in the
// World, and nothing fails.
#pragma once

#include <deque>
#include <vector>

#include "sim/ground_truth/ground_truth.h"
#include "sim/policies/scheduler.h"
#include "sim/policies/shared_state/agent_node.h"
#include "sim/policies/shared_state/cluster_setup.h"
#include "sim/policies/shared_state/feed_log.h"
#include "sim/policies/shared_state/mail.h"
#include "sim/policies/shared_state/master_node.h"
#include "sim/world.h"

namespace tarcil::sim {

struct SharedStateOptions {
  Policy policy = Policy::kQuality;  // of every job; not kLateBinding
  uint32_t agents = 10;              // jobs go to them in turn
  QualitySettings settings;
  Duration oneWay = std::chrono::microseconds(500);
  Duration durable = std::chrono::microseconds(300);  // until a record is on disk (docs/benchmarks.md)
  Duration waitBound = std::chrono::seconds(30);      // where neither job nor buckets give one
  DecisionTime decision;
  uint32_t buckets = BucketOptions{}.buckets;  // of each platform
};

class SharedState final : public Scheduler, private Launcher {
 public:
  // Everybody has attached, and residents hold their units. World and belief outlive it.
  SharedState(World& world, const Belief& belief, const SharedStateOptions& options, Rng rng);

  void jobArrived(JobNumber job) override;
  void taskEnded(TaskNumber task, ServerNumber server) override;
  void received(const Message& message) override;
  SchedulerCounts counts() const override { return counts_; }

 private:
  void launch(uint32_t agent, Duration after, const LaunchSpec& spec) override;
  void shortenFeed();

  World& world_;
  Network network_;
  JobSpecs specs_;
  FeedLog feed_;
  SchedulerCounts counts_;
  MasterNode master_;
  std::deque<AgentNode> agents_;
  std::vector<AllocationId> allocations_;  // by task; 0 until it is launched
  size_t feedLimit_;                       // entries of the log at which agents are made to read it
};

}  // namespace tarcil::sim
