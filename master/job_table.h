// Every job the master keeps, its tasks, which of them hold units, and the orders that jobs are asked for in.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/state/job_state.h"
#include "master/waiting_queue.h"

namespace tarcil::master {

// Ids by time of submission, oldest first.
using ByAge = std::set<std::pair<WallTime, JobId>>;

// The jobs of one user that are kept.
struct JobsOfUser {
  ByAge byAge;
  size_t unfinished = 0;
};

struct Job {
  JobRecord record;
  JobProgress progress;
  std::vector<TaskRecord> tasks;      // one per task, stored or not
  std::array<uint32_t, 7> inState{};  // tasks by RunState

  uint32_t count(RunState state) const { return inState[static_cast<size_t>(state)]; }
  uint32_t active() const { return count(RunState::kStarting) + count(RunState::kRunning); }
  uint32_t unfinished() const { return count(RunState::kQueued) + active(); }
  // Whether it could use more slots than it has.
  bool waits() const {
    return !progress.cancelRequested && count(RunState::kQueued) > 0 && active() < record.spec.mostAtOnce();
  }

  // What the event at hand did to it.
  struct Changes {
    bool noted = false;            // listed in JobTable
    bool progress = false;         // to be stored
    std::vector<TaskIndex> tasks;  // to be stored; may repeat
    std::vector<TaskIndex> news;   // the owner is to be told about; may repeat
    bool whole = false;            // the owner is to be told everything
    bool tried = false;            // its owner has looked for slots for it
  } changes;
  // Where JobTable lists it.
  struct Places {
    JobsOfUser* ofUser = nullptr;
    ByAge::iterator byAge, byAgeOfUser;
  } places;
};

// The task that an allocation in use belongs to.
struct Hold {
  Job* job = nullptr;
  TaskIndex task = 0;
  ServerId server = 0;
};

// References to jobs hold until erase().
class JobTable {
 public:
  // Records of tasks and progress that belong to no job are ignored.
  JobTable(std::deque<JobRecord> jobs, std::vector<JobProgress> progress, std::deque<TaskRecord> tasks);
  JobTable(const JobTable&) = delete;
  JobTable& operator=(const JobTable&) = delete;

  Job* find(const JobId& id);
  const Job* find(const JobId& id) const;
  // By id.
  std::map<JobId, Job>& all() { return jobs_; }
  const std::map<JobId, Job>& all() const { return jobs_; }

  // Every task queued. Requires: the id is new.
  Job& add(const JobRecord& record, const std::string& owner);
  // Requires: there is a finished job.
  void eraseOldestFinished();

  // Changes a task's state and keeps the counts; the record is to be stored and the owner told.
  void setState(Job& job, TaskIndex task, RunState state);
  // Changes the job's own state and keeps the counts; the progress is to be stored. Requires: the job was
  // noted.
  void setState(Job& job, RunState state);
  void noteTask(Job& job, TaskIndex task);  // its record changed
  void noteProgress(Job& job);              // its progress changed
  void noteNews(Job& job, TaskIndex task);  // the owner is to hear of the task
  void noteWhole(Job& job);                 // the owner is to hear of every task
  void forgetNews(Job& job);                // the owner knows already

  // Jobs noted since the last call, each once.
  std::vector<Job*> takeNoted();

  // Those that could use more slots than they have.
  WaitingQueue& queue() { return queue_; }
  const WaitingQueue& queue() const { return queue_; }
  // Puts the job among those that wait, or takes it out.
  void reorder(const Job& job);
  // The job is the latest to finish. Requires: called once for each job.
  void addFinished(Job& job);

  // Allocations in use.
  void hold(AllocationId allocation, const Hold& hold) { holds_[allocation] = hold; }
  void release(AllocationId allocation) { holds_.erase(allocation); }
  const Hold* holder(AllocationId allocation) const;

  // Waiting jobs that come before this one, where it waits.
  uint32_t ahead(const Job& job) const;
  // Null where none is finished.
  const Job* oldestFinished() const;
  size_t finished() const { return finished_.size(); }
  // Jobs that are not finished.
  size_t unfinished() const { return jobs_.size() - finished_.size(); }
  size_t unfinishedOf(const std::string& user) const;
  // Jobs by RunState.
  const std::array<size_t, 7>& inState() const { return inState_; }

  // Of one user where one is given.
  const ByAge& byAge() const { return byAge_; }
  const ByAge& byAgeOf(const std::string& user) const;

 private:
  // Its tasks are still to be made.
  Job& insert(JobRecord record);
  // Every task queued.
  static void makeTasks(Job& job);
  void note(Job& job);

  size_t& counted(const Job& job) { return inState_[static_cast<size_t>(job.progress.state)]; }

  std::map<JobId, Job> jobs_;
  std::array<size_t, 7> inState_{};
  ByAge byAge_;
  std::unordered_map<std::string, JobsOfUser> ofUser_;  // none is empty
  WaitingQueue queue_;
  std::deque<Job*> finished_;  // oldest first
  std::unordered_map<AllocationId, Hold> holds_;
  std::vector<Job*> noted_;
};

}  // namespace tarcil::master
