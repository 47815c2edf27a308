// The late-bound jobs that an agent holds, and for a while those that are over.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agent/late/late_grants.h"
#include "agent/late/late_loads.h"
#include "core/base/ids.h"
#include "core/model/job.h"
#include "core/model/launch.h"
#include "core/state/job_state.h"
#include "latebinding/late_job.h"

namespace tarcil {

class LateSession;

// What the scheduler need not know of a job.
struct LateHeld {
  late::JobNumber number = 0;
  JobNumber clusterNumber = 0;  // among all jobs of the cluster; 0: none yet
  JobId id{};
  std::string user;  // who submitted it
  JobSpec spec;
  LaunchSpec launch;  // of its tasks: what they have in common
  LateGrants::Ref grant;
  std::vector<std::string> executor;
  std::vector<std::string> descriptions;  // by task of `spec`; empty: none
  std::vector<TaskIndex> tasks;           // by the scheduler's; empty: the same
  LateLoad load;
  LateSession* session = nullptr;  // that is told of its tasks; none: nobody is
  uint64_t clientNumber = 0;       // the session's number for it
  late::GroupNumber group = late::kAllServers;
  bool detached = false;  // goes on without its session
  WallTime submitted = kNever, finished = kNever;
  std::vector<std::pair<late::TaskOver, std::string>> over;  // with the name of the server

  TaskIndex numberOf(TaskIndex task) const { return tasks.empty() ? task : tasks[task]; }
  size_t size() const { return tasks.empty() ? spec.tasks : tasks.size(); }
  bool has(TaskIndex task) const {
    return tasks.empty() ? task < spec.tasks : std::ranges::binary_search(tasks, task);
  }
  bool isOver() const { return finished != kNever; }
};

// How far a job is: its tasks by what they do, and what it is for those who ask.
struct LateProgress {
  RunState state = RunState::kQueued;
  uint32_t queued = 0, active = 0, succeeded = 0;
  uint32_t failed = 0;  // over, and did not succeed
};
// `waiting`: its tasks that no server was given; 0 for one that is over.
LateProgress progressOf(const LateHeld& job, uint32_t waiting);

// Single-threaded.
class LateJobs {
 public:
  // Remembers jobs that are over while they have no more tasks and bytes together than this; the last one
  // always.
  explicit LateJobs(const LateLoad& kept) : kept_(kept) {}

  // Requires: a number never used before. References hold until finish().
  LateHeld& add(LateHeld job) { return held_[job.number] = std::move(job); }
  // nullptr where it is not held.
  LateHeld* find(late::JobNumber number);
  void finish(late::JobNumber number, WallTime when);
  // Does nothing where it is neither held nor remembered. O(remembered) where it is not held.
  void setClusterNumber(late::JobNumber number, JobNumber clusterNumber);

  // Held or remembered, the newest of this id; nullptr where there is none. O(jobs).
  const LateHeld* find(const JobId& id) const;
  // Held and remembered, the newest first. O(jobs * log jobs).
  std::vector<const LateHeld*> all() const;
  // For jobs of one session. O(jobs held).
  std::vector<late::JobNumber> ofSession(const LateSession& session) const;

 private:
  const LateLoad kept_;
  std::unordered_map<late::JobNumber, LateHeld> held_;
  std::deque<LateHeld> done_;
  LateLoad doneLoad_;  // without pairs of tasks and servers
};

}  // namespace tarcil
