// Late-bound jobs in a recording: no master knows them, so the agents that hold them are asked.
#pragma once

#include <functional>
#include <set>

#include "cli/late_agents.h"
#include "cli/late_job.h"

namespace tarcil {

// Finds jobs by looking once a second. A job is told of once, when it is over; one that an agent has
// forgotten before the next look is missed (`Agents remember` in docs/late-binding.md).
class LateRecorder {
 public:
  using Tell = std::function<void(const LateJobStatus& job)>;

  // `cluster` outlives it. Jobs that were over before `began` are none of its.
  LateRecorder(Cluster& cluster, WallTime began, Tell tell);

  void look(WallTime now);
  // Tells of those that are not over too, as far as they have got.
  void end(WallTime now);

  // Jobs that were seen, and of them those that are not over.
  size_t seen() const { return known_.size(); }
  size_t unfinished() const { return unfinished_.size(); }

 private:
  void ask(const std::set<JobId>& jobs);

  LateAgents agents_;
  const WallTime began_;
  const Tell tell_;
  WallTime lastLook_ = kNever;
  std::set<JobId> known_, unfinished_;
};

}  // namespace tarcil
