// Every job the master keeps, its tasks, which of them hold units, and the orders that jobs are listed in.
#pragma once

#include <algorithm>
#include <array>
#include <boost/container/small_vector.hpp>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/state/claim.h"
#include "core/state/job_state.h"
#include "master/logic/jobs/awaiting_tasks.h"
#include "master/logic/jobs/follower_table.h"
#include "master/logic/jobs/job_tasks.h"
#include "master/logic/queue/counted_units.h"
#include "master/logic/queue/demand_ahead.h"
#include "master/logic/queue/waiting_queue.h"

namespace tarcil::master {

// Most events change one task of one job: such lists are taken from the heap only by others.
using TasksChanged = boost::container::small_vector<TaskIndex, 2>;
struct Job;
using JobsChanged = boost::container::small_vector<Job*, 4>;

// The jobs of one user that are kept.
struct JobsOfUser {
  UserNumber number = 0;  // in the queue
  ByAge byAge;
  size_t unfinished = 0;
  uint64_t queued = 0;     // tasks
  size_t bytes = 0;        // of the unfinished ones
  uint64_t fileBytes = 0;  // of the input files of these
};

// Roughly what a job takes in the master's memory: what it is counted with.
size_t bytesOf(const JobRecord& record);

struct Job {
  JobRecord record;
  JobProgress progress;
  JobTasks tasks;
  MonotonicTime notBefore{};          // no task is placed sooner, whatever its agent knows
  std::array<uint32_t, 7> inState{};  // tasks by RunState
  AwaitingTasks awaiting;             // queued ones that start after those of another job (dependencies.h)
  uint32_t moving = 0;                // tasks that are being ended to start again (TaskRecord::moving)

  uint32_t count(RunState state) const { return inState[static_cast<size_t>(state)]; }
  uint32_t active() const { return count(RunState::kStarting) + count(RunState::kRunning); }
  uint32_t unfinished() const { return count(RunState::kQueued) + active(); }
  // Tasks that could be placed now, were there slots.
  uint32_t placeable() const {
    return std::min(count(RunState::kQueued) - awaiting.count(),
                    record.spec.mostAtOnce() - std::min(record.spec.mostAtOnce(), active()));
  }
  // Slots that it needs at once: a gang all of them, others one.
  uint32_t slotsToStart() const { return record.spec.schedule == Schedule::kGang ? placeable() : 1; }
  // Whether small jobs that take each unit as it comes free could starve it. Nothing is reserved for jobs
  // whose tasks require servers of their own.
  bool needsReservation() const {
    if (!record.spec.placement.requireOfTask.empty()) return false;
    return record.spec.schedule == Schedule::kGang || (record.spec.rusPerTask > 1 && active() == 0);
  }
  Wanted wanted() const {
    return {placeable(), record.spec.rusPerTask, record.spec.schedule == Schedule::kGang};
  }
  bool isHeldByUser() const { return progress.held && !progress.heldForJobs && progress.heldUntil == kNever; }
  // Whether it could use more slots than it has. A gang that is being ended starts again together, once the
  // last of it has ended: what starts before would be told of places that others are about to leave.
  bool waits() const {
    const bool isLeaving = record.spec.schedule == Schedule::kGang && moving > 0;
    return !progress.cancelRequested && !progress.held && !isLeaving &&
           count(RunState::kQueued) > awaiting.count() && active() < record.spec.mostAtOnce();
  }

  // What the event that is being handled did to it.
  struct Changes {
    bool noted = false;                     // listed in JobTable
    bool progress = false;                  // to be stored
    TasksChanged tasks;                     // to be stored; may repeat
    TasksChanged news;                      // of which the owner is to be told; may repeat
    bool whole = false;                     // the owner is to be told everything
    bool tried = false;                     // its owner has looked for slots for it
    std::optional<Measurement> measured{};  // by its task, which has ended
  } changes;
  // Tasks that are being ended for it. Not stored: after a restart they end all the same.
  struct Preemption {
    std::vector<AllocationId> victims;
    std::vector<ServerId> servers;   // where it can be placed then, ascending; empty once it was tried there
    QueueKey reservedAs{};           // of the job, as their reservation has it
    MonotonicTime reservedUntil{};   // their reservation, once all victims have ended
    MonotonicTime notBefore{};       // the next search for victims
    uint32_t failedPreemptions = 0;  // in a row: victims were ended, and it did not start
  } preemption;
  // Steps taken for its degraded tasks, the newest last; bounded, and not stored.
  struct Adjusting {
    std::vector<AdjustingStep> steps;
    std::map<TaskIndex, uint32_t> moves;
    // Where a task that is being ended starts again, with more units than it asks for.
    struct Destination {
      Claim claim;
      Duration calm{};  // as DegradedTask::calm
    };
    std::map<TaskIndex, Destination> destinations;
  } adjusting;
  // Since when it counts as waiting: its submission by the clock of the agent that took it, but never in
  // the future.
  WallTime queued = kNever;
  MonotonicTime boundDue{};  // when its owner may next be told how long it is to wait
  uint64_t offeredAt = 0;    // capacity version when it was last offered
  // Nothing is reserved for it before.
  MonotonicTime reserveNotBefore{};
  // Where JobTable lists it.
  struct IndexEntries {
    JobsOfUser* ofUser = nullptr;
    ByAge::iterator byAge, byAgeOfUser;
    UserNumber user = 0;  // in the queue
    EquivalenceClass equivalenceClass = 0;
    size_t bytes = 0;           // by bytesOf()
    uint32_t waitingTasks = 0;  // of JobTable::waitingTasks()
  } index;
};

// As its record says or would say; one that was cancelled without a record ended with its job.
TaskRecord taskOf(const Job& job, TaskIndex index);

// The task that an allocation in use belongs to.
struct Hold {
  Job* job = nullptr;
  TaskIndex task = 0;
  ServerId server = 0;
  uint32_t kept = 0;  // unitsKept() when it was placed
};

// References to jobs hold until erase().
class JobTable {
 public:
  // Records of tasks and progress that belong to no job are ignored. `ageing`: see WaitingOrder. `now` is, as
  // in add(), by queueTime().
  JobTable(std::deque<JobRecord> jobs, std::vector<JobProgress> progress, std::deque<TaskRecord> tasks,
           Duration ageing, WallTime now);
  JobTable(const JobTable&) = delete;
  JobTable& operator=(const JobTable&) = delete;

  Job* find(const JobId& id);
  const Job* find(const JobId& id) const;
  // By id.
  std::map<JobId, Job>& all() { return jobs_; }
  const std::map<JobId, Job>& all() const { return jobs_; }

  // Every task queued. Requires: the id is new.
  Job& add(const JobRecord& record, const std::string& owner, WallTime now);
  // Requires: there is a finished job.
  void eraseOldestFinished();

  // Changes a task's state and keeps the counts; the record is to be stored and the owner told.
  void setState(Job& job, TaskIndex task, RunState state);
  // Cancels the tasks that were never placed and have no record. The progress, which says that the job is
  // cancelled, is to be stored.
  void cancelWithoutRecord(Job& job);
  // Changes the job's own state and keeps the counts; the progress is to be stored. Requires: the job
  // was noted.
  void setState(Job& job, RunState state);
  // Everything is ordered by the new one, and the owner is told. The record is to be stored by the caller.
  void setPriority(Job& job, uint8_t priority);
  // Its class in the queue follows; the owner is told, and tries it again. The record is to be stored by the
  // caller.
  void setProfile(Job& job, Profile profile, WallTime now);
  // The owner is told. The record is to be stored by the caller.
  void setImage(Job& job, std::string digest);
  void noteTask(Job& job, TaskIndex task);  // its record changed
  void noteProgress(Job& job);              // its progress changed
  void noteNews(Job& job, TaskIndex task);  // the owner is to hear of the task
  void noteWhole(Job& job);                 // the owner is to hear of every task
  void forgetNews(Job& job);                // the owner knows already

  // Jobs noted since the last call, each once.
  JobsChanged takeNoted();

  // Jobs that could use more slots than they have.
  WaitingQueue& queue() { return queue_; }
  const WaitingQueue& queue() const { return queue_; }
  // Of the jobs there: tasks that could be placed now, were there slots.
  uint64_t waitingTasks() const { return waitingTasks_; }
  // Unfinished jobs whose profiles follow what is known.
  FollowerTable& followers() { return followers_; }
  const FollowerTable& followers() const { return followers_; }
  // Puts the job into the queue, or takes it out, as its state requires.
  void reorder(Job& job);
  // Waiting jobs that need several units at once to start (Job::needsReservation()).
  const ByAge& waitingForReservation() const { return waitingForReservation_; }
  // The job is the latest to finish. Requires: it was unfinished.
  void addFinished(Job& job);
  // Tasks that ended otherwise than as done are queued again, and the job with them, for this owner.
  // Requires: it has finished, and is not done.
  void reopen(Job& job, const std::string& owner);

  // The key of a waiting job in the queue.
  static QueueKey queueKeyOf(const Job& job);

  // No task of the job starts until release(), by itself at `until` where that is not kNever. Replaces an
  // earlier hold.
  void hold(Job& job, const std::string& reason, WallTime until = kNever);
  // The same while it waits for others (dependencies.h).
  void holdForJobs(Job& job, const std::string& reason);
  // The same until the time after which its spec wants it to start.
  void holdUntilItsTime(Job& job);
  // Its owner may have been refused claims meanwhile, and hears anew which of its tasks wait. Requires: it
  // is held.
  void release(Job& job);
  std::optional<WallTime> nextRelease() const;
  void releaseDue(WallTime now, size_t atMost);

  // For how many units the tasks of users count: what orders the queue, and what accounts bound.
  const CountedUnits& countedUnits() const { return countedUnits_; }

  // Allocations in use; what they hold and keep counts for their user.
  void hold(AllocationId allocation, const Hold& hold);
  // Requires: it is in use.
  void release(AllocationId allocation);
  // Its task has these units from now on. Requires: it is in use.
  void resize(AllocationId allocation, const std::vector<RuIndex>& rus);
  const Hold* holder(AllocationId allocation) const;
  // Those of preemptible tasks, by priority.
  const std::map<uint8_t, std::set<AllocationId>>& preemptible() const { return preemptible_; }

  // Input files that are kept for jobs that have ended to be run again: bytes, and the job that ended first;
  // null where there is none.
  uint64_t keptFileBytes() const { return keptFileBytes_; }
  Job* oldestWithFiles();
  // The progress is to be stored; the files are to be erased by the caller. Requires: the job keeps its.
  void forgetFiles(Job& job);

  // Null where none is finished.
  const Job* oldestFinished() const;
  size_t finished() const { return finished_.size(); }
  // When a job was submitted or ended last; kNever where there is none.
  WallTime latest() const;
  // Jobs that are not finished.
  size_t unfinished() const { return jobs_.size() - finished_.size(); }
  size_t unfinishedOf(const std::string& user) const;
  // By bytesOf().
  size_t finishedBytes() const { return finishedBytes_; }
  size_t unfinishedBytes() const { return bytes_ - finishedBytes_; }
  size_t unfinishedBytesOf(const std::string& user) const;
  // Of everybody who has jobs.
  const std::unordered_map<std::string, JobsOfUser>& users() const { return ofUser_; }
  // Of input files, which the store has while their job is unfinished.
  uint64_t fileBytes() const { return fileBytes_; }
  uint64_t fileBytesOf(const std::string& user) const;
  // Jobs by RunState.
  const std::array<size_t, 7>& inState() const { return inState_; }

  // Of one user where one is given.
  const ByAge& byAge() const { return byAge_; }
  const ByAge& byAgeOf(const std::string& user) const;
  // Null where there is none.
  const Job* numbered(JobNumber number) const;
  // 0 where no job has one.
  JobNumber highestNumber() const { return byNumber_.empty() ? 0 : byNumber_.rbegin()->first; }
  // Of a job that an earlier version accepted. Requires: it has none, and no other job has this one.
  void setNumber(Job& job, JobNumber number);

 private:
  // Without its tasks.
  Job& insert(JobRecord record, WallTime now);
  // Every task without a record.
  static void makeTasks(Job& job);
  // So many of the job's tasks go from one state to another.
  static void recount(Job& job, RunState from, RunState to, uint32_t tasks);
  void addPreemptible(const Job& job, AllocationId allocation);
  void erasePreemptible(const Job& job, AllocationId allocation);
  void note(Job& job);
  // The units of the task count for its user, or do no more.
  void count(const Hold& hold);
  void uncount(const Hold& hold);

  void addKeptFiles(Job& job);
  void eraseKeptFiles(const Job& job);

  size_t& counted(const Job& job) { return inState_[static_cast<size_t>(job.progress.state)]; }

  std::map<JobId, Job> jobs_;
  std::array<size_t, 7> inState_{};
  ByAge byAge_;
  std::map<JobNumber, Job*> byNumber_;
  std::unordered_map<std::string, JobsOfUser> ofUser_;  // none is empty
  WaitingQueue queue_;
  CountedUnits countedUnits_;
  uint64_t waitingTasks_ = 0;
  FollowerTable followers_;
  std::set<std::pair<WallTime, JobId>> heldUntil_;  // unfinished jobs that are released by themselves
  ByAge waitingForReservation_;
  std::deque<Job*> finished_;  // oldest first
  size_t bytes_ = 0, finishedBytes_ = 0;
  uint64_t fileBytes_ = 0;      // of unfinished jobs
  ByAge keepFiles_;             // finished jobs that keep their files, by their ends
  uint64_t keptFileBytes_ = 0;  // of these
  std::unordered_map<AllocationId, Hold> holds_;
  std::map<uint8_t, std::set<AllocationId>> preemptible_;  // no set is empty
  JobsChanged noted_;
};

}  // namespace tarcil::master
