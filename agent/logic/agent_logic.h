// A scheduler over a copy of the shared state: checks submissions, samples, judges, commits,
// launches, and keeps waiting jobs until slots suit them. A state machine without I/O; the shell
// (agent_server) carries its actions out.
//
// What it keeps to:
// - Nothing is planned before the snapshot that follows an attachment is whole, nor while the master is away.
// - A job has at most one commit in flight, so no task is claimed twice; its claims stay laid over the copy
// until then.
// - A client is answered only from the master's answer, which is durable.
// - A launch is sent until a monitor answers for it or the master takes the allocation back.
// - An event costs a bounded amount of planning; what is left over is done after an immediate WakeAt.
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

  // Takes one event and appends what is to be done. Actions are to be carried out in order.
  void handle(const agent::Event& event, Now now, Rng& rng, std::vector<agent::Action>& actions);

  // What would become of this job if the caller submitted it now: checked as a submission is, with the same
  // errors, and decided on the copy as it is, all tasks at once, drawn with `seed`. Its input files are not
  // looked at. Unavailable where the master is away or the copy not whole. Costs a decision; with the same
  // seed on the same state it gives the same plan, and what is handled later does not depend on it.
  Result<JobPlan> plan(const Caller& caller, const JobSpec& spec, uint64_t seed) const;

  // The epoch that the master gave last; 0 before the first attachment.
  uint64_t epoch() const;

  // What it holds, for metrics and for tests.
  struct Load {
    size_t jobs = 0;           // unfinished
    size_t waiting = 0;        // of them, with tasks that have no slot and might be given one
    size_t submissions = 0;    // that wait for the master
    size_t commits = 0;        // in flight
    uint64_t decisions = 0;    // for which slots were drawn, since its start; not those of plan()
    uint64_t comparisons = 0;  // of its copy with the master's checksum, since its start
    uint64_t mismatches = 0;   // of them
    // Of the cluster, as it sees them: what its commits in flight claim counts as taken.
    uint64_t freeUnits = 0;
  };
  // O(1).
  Load load() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tarcil
