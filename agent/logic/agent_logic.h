// A scheduler over a copy of the shared state (Omega): checks submissions, samples and judges slots, commits
// claims, launches tasks, and retries waiting jobs when the master offers them. A state machine without I/O;
// the shell (agent/server) carries its actions out.
//
// Invariants:
// - Nothing is planned before the snapshot that follows an attachment is complete, nor while the master is
//   away.
// - A job has at most one commit in flight, so no task is claimed twice. Until it is answered, its claims
//   count as taken on the copy.
// - A client is answered only once the master has made the answer durable.
// - A launch is sent until a monitor answers it or the master revokes the allocation.
// - The planning done for one event is bounded; the rest follows after an immediate WakeAt.
#pragma once

#include <memory>
#include <vector>

#include "agent/logic/events.h"
#include "agent/logic/options.h"
#include "core/base/result.h"
#include "core/base/rng.h"
#include "core/base/time.h"
#include "core/decide/job_plan.h"

namespace tarcil {

class AgentLogic final {
 public:
  explicit AgentLogic(const AgentOptions& options);
  ~AgentLogic();

  // Handles one event and appends the actions that follow, to be carried out in order.
  void handle(const agent::Event& event, Now now, Rng& rng, std::vector<agent::Action>& actions);

  // What would happen to this job if the caller submitted it now (`tarcil plan`): the checks and errors of
  // a submission, without input files, and one decision for all its tasks on the current copy, sampled with
  // `seed`. Unavailable while the master is away or the copy incomplete. The same seed on the same state
  // gives the same plan. Changes nothing.
  Result<JobPlan> plan(const Caller& caller, const JobSpec& spec, uint64_t seed) const;

  // Of the last attachment; 0 before the first.
  uint64_t epoch() const;

  // For metrics and tests.
  struct Load {
    size_t jobs = 0;           // unfinished
    size_t waiting = 0;        // of them, idle ones with tasks to place
    size_t submissions = 0;    // that wait for the master
    size_t commits = 0;        // in flight
    uint64_t decisions = 0;    // that sampled slots, since its start; without those of plan()
    uint64_t drawn = 0;        // slots, for these decisions
    uint64_t comparisons = 0;  // of its copy with the master's checksum, since its start
    uint64_t mismatches = 0;   // comparisons that showed a difference
    uint64_t freeUnits = 0;    // in the cluster; units claimed by its commits in flight are not free
  };
  // O(1).
  Load load() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tarcil
