// The unfinished tasks of one job as its agent knows them: ready, delayed, or on servers.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/base/time.h"
#include "core/decide/chooser.h"
#include "core/state/job_state.h"

namespace tarcil::agent {

// A task that has not ended.
struct HeldTask {
  uint32_t attempt = 0;
  RunState state = RunState::kQueued;  // queued, starting or running
  MonotonicTime notBefore{};           // queued: not to be placed before this time
  AllocationId allocation = 0;         // starting, running
  ServerId server = 0;
  std::vector<RuIndex> rus;
  ExtraNumbers extras{};
};

// Every change is O(log tasks) per task.
class HeldJob {
 public:
  // Holds no task yet.
  explicit HeldJob(JobRecord record) : record_(std::move(record)) {}

  // A job just submitted: every task queued at attempt 0.
  static HeldJob submitted(JobRecord record);

  const JobRecord& record() const { return record_; }
  // Takes what changes of a specification while its job lives.
  void follow(const JobSpec& spec);

  // Replaces what is known of a task by the master's state; a final state forgets the task.
  void assign(const TaskAssignment& news, MonotonicTime now);
  // Forgets every task that the assignment does not list. Returns the allocations that these had.
  std::vector<AllocationId> keepListed(const JobAssignment& assignment);
  // The queued task was granted its claim and is starting. Requires: the task is known.
  void grant(TaskIndex index, ServerId server, const Grant& grant);
  void forget(TaskIndex index);

  // nullptr if the task has ended or is not known. Valid until the next change.
  const HeldTask* find(TaskIndex index) const;
  const std::map<TaskIndex, HeldTask>& tasks() const { return tasks_; }

  // Tasks whose delay is over become ready.
  void endDelays(MonotonicTime now);
  std::optional<MonotonicTime> nextDelayEnd() const;

  bool hasQueued() const { return !ready_.empty() || !delayed_.empty(); }
  // How many queued tasks may be placed now: ready, and within the job's concurrency.
  size_t placeable() const;
  // The first `count` of them. Requires: count <= placeable().
  std::vector<PlacementRequest::Task> firstPlaceable(size_t count) const;
  // Those that are ready: the first `count` that may go to any server of the job's, and all that require
  // servers of their own, since any of these may have to wait for them. Ascending.
  std::vector<PlacementRequest::Task> readyAndRequiring(size_t count) const;
  // Servers of the tasks that are starting or running, one entry per task.
  std::vector<ServerId> placedOn() const;

 private:
  void unlist(TaskIndex index, const HeldTask& task);
  void list(TaskIndex index, const HeldTask& task, MonotonicTime now);

  JobRecord record_;
  std::map<TaskIndex, HeldTask> tasks_;
  // Each task of tasks_ is in exactly one of these.
  std::set<TaskIndex> ready_;
  std::set<std::pair<MonotonicTime, TaskIndex>> delayed_;
  std::set<TaskIndex> active_;
};

}  // namespace tarcil::agent
