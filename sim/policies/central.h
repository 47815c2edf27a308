// One scheduler that sees everything but the speeds: a queue and a choice of servers.
#pragma once

#include <deque>
#include <map>
#include <memory>

#include "sim/policies/decision_time.h"
#include "sim/policies/scheduler.h"
#include "sim/policies/server_choice.h"
#include "sim/world.h"

namespace tarcil::sim {

struct CentralOptions {
  LaunchCosts launch;
  DecisionTime decision;  // one after the other, one for each task
};

// First come, first served: where the first task of a queue is to wait, all of that queue wait.
class CentralPolicy final : public Scheduler {
 public:
  CentralPolicy(World& world, std::unique_ptr<ServerChoice> choice, const CentralOptions& options);

  void jobArrived(JobNumber job) override;
  void taskEnded(TaskNumber task, ServerNumber server) override;
  void received(const Message& message) override;
  SchedulerCounts counts() const override { return counts_; }

 private:
  enum Kind : uint8_t { kReleased, kStart, kBound };

  void startWhatFits();
  // Whether the first of the queue has got a server.
  bool placed(TaskNumber task);

  World& world_;
  const std::unique_ptr<ServerChoice> choice_;
  const CentralOptions options_;
  std::map<uint64_t, std::deque<TaskNumber>> queues_;
  SimTime busyUntil_{};
  SchedulerCounts counts_;
};

}  // namespace tarcil::sim
