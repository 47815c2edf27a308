// Follows what a master writes down, batch by batch as it gets onto the disk, and holds it against the rules
// of a task's life and against what really happened. Shares no code with the master.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "master/logic/master_logic.h"
#include "master/store/store.h"
#include "sim/faults/task_checker.h"

namespace tarcil::sim {

class StoreChecker {
 public:
  StoreChecker(VirtualWorld& world, const TaskChecker& tasks) : world_(world), tasks_(tasks) {}

  // --- What the master sees and decides

  // Times are the master's.
  void masterStarts(const MasterLogic& logic, const MasterOptions& options, MonotonicTime now);
  void serverIsUp(const std::string& server) { down_.erase(server); }
  void serverIsDown(const std::string& server, MonotonicTime now) { down_.try_emplace(server, now); }
  // Not on the disk yet. Violation: a task is given up whose server is in reach, or is not overdue.
  void decided(const Mutation& mutation, MonotonicTime now);

  // --- What is on the disk

  // Violations: a change that no task may make, a unit with two owners, a task where it must not be, an end
  // that did not happen, a job beyond the bounds.
  void stored(std::span<const Mutation> batch);
  // Violation: the store has it as held still, so its end is known to nobody any more.
  void forgottenByMonitor(AllocationId allocation);

  // A user asks for the job to be run again: it may leave an end that is not done.
  void mayRunAgain(const JobId& job) { rerun_.insert(job); }
  bool has(const JobId& job) const { return now_.jobs.contains(job); }
  // nullopt where it was never stored; also of jobs that were erased.
  std::optional<RunState> stateOf(const JobId& job) const;
  bool isCordoned(const std::string& server) const;
  size_t tasksHeld() const { return now_.held.size(); }
  // Jobs that crons made and that have not ended.
  std::vector<JobId> unfinishedCronJobs() const;

  // All that is known of the store, for a backup of it.
  struct Task {
    RunState state = RunState::kQueued;
    AllocationId allocation = 0;
    bool stopping = false;
    std::string server;
    std::string domain;            // of those that its job is spread over
    std::set<std::string> things;  // units and countable things that it holds
  };
  struct Job {
    JobRecord record;
    RunState state = RunState::kQueued;
    bool cancelRequested = false;
    bool isLetGo = false;  // a task of it was placed since it last waited for other jobs
    std::map<TaskIndex, Task> tasks{};
  };
  struct Picture {
    std::map<JobId, Job> jobs;
    std::map<JobId, RunState> erased;
    std::map<std::string, ServerRecord> servers;
    std::map<std::string, std::map<std::string, AllocationId>> owners;  // by server: thing, holder
    std::map<AllocationId, std::pair<JobId, TaskIndex>> held;
    std::map<std::string, Usage> usage;
    std::map<std::pair<std::string, std::string>, Cron> crons;  // by user and name
    // Planned times that have had a job: of which cron, and when.
    std::set<std::tuple<std::string, std::string, WallTime>> cronTimes;
    JobNumber latestNumber = 0;
  };
  const Picture& picture() const { return now_; }
  // Allocations begin elsewhere: behind those of the backup, but not behind all that there were since.
  void backupRestored(Picture picture) {
    now_ = std::move(picture);
    for (const auto& [allocation, task] : now_.held) heldByBackup_.insert(allocation);
    latest_ = 0;
  }

 private:
  void take(const Put& put);
  void take(const EraseAgent&) {}
  void take(const EraseAnswer&) {}
  void take(const EraseFiles&) {}
  void take(const EraseUpload&) {}
  void take(const EraseProfile&) {}
  void take(const EraseProfiling&) {}
  void take(const EraseObserved&) {}
  void take(const EraseMember&) {}
  void take(const EraseUser&) {}
  void take(const EraseAccount&) {}
  void take(const EraseToken&) {}
  void take(const EraseAudit&) {}
  void take(const EraseSecret&) {}
  void take(const EraseCron& erase) { now_.crons.erase({erase.user, erase.name}); }
  void take(const EraseJob& erase);

  void put(const TaskRecord& record);
  void put(const JobRecord& record);
  void put(const JobProgress& record);
  void put(const ServerRecord& record);
  void put(const Usage& record);
  void put(const Cron& record);
  template <typename Other>
  void put(const Other&) {}

  void hold(const TaskRecord& record, Task& task);
  void placed(Job& job, const TaskRecord& record, Task& task);
  void released(const TaskRecord& record, Task& task);
  void checkBounds(const JobRecord& record);
  void checkCronJob(const JobRecord& record);
  void checkTakenUp(const Cron& before, const Cron& record);
  void checkPlace(const Job& job, const TaskRecord& record);
  void checkAfter(const Job& job, const TaskRecord& record);
  bool isOver(const TaskRecord& record) const;  // the allocation, as the disk has it
  bool mayLeave(const JobId& job, RunState before, RunState state) const;
  void checkReplaced(const TaskRecord& record, const Task& before);
  void checkEnd(const TaskRecord& record, const Task& before);
  void wrong(const TaskRecord& record, const std::string& what);

  VirtualWorld& world_;
  const TaskChecker& tasks_;
  MasterOptions options_;                      // of the master that runs, or did last
  std::map<std::string, MonotonicTime> down_;  // servers, since when
  std::set<AllocationId> givenUp_;             // judged since the master's start
  std::set<AllocationId> heldByBackup_;        // what became of them afterwards is not stored
  Picture now_;
  AllocationId latest_ = 0;         // of earlier batches
  std::set<AllocationId> granted_;  // by this one, in any order: the tasks of a gang that require servers are
                                    // not placed in theirs
  std::set<JobId> touched_;         // in the batch
  std::set<JobId> rerun_;           // may be run again
};

}  // namespace tarcil::sim
