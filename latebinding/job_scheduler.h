// The agent's side of late binding: a stateless scheduler of many short tasks (Sparrow, SOSP 2013, sections 3
// to 6).
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/base/rng.h"
#include "latebinding/held_job.h"
#include "latebinding/late_job.h"
#include "latebinding/messages.h"
#include "latebinding/options.h"
#include "latebinding/probe_ratio.h"
#include "latebinding/server_groups.h"

namespace tarcil::late {

// What the scheduler wants sent and told, appended to; the caller empties and reuses it.
struct SchedulerActions {
  std::vector<Reserve> reserves;
  std::vector<Cancel> cancels;
  std::vector<Give> gives;
  std::vector<Forget> forgets;
  std::vector<Stop> stops;
  std::vector<Look> looks;
  std::vector<TaskOver> tasksOver;
  std::vector<JobOver> jobsOver;

  void clear();
};

// For a job of m tasks, ceil(d * m) reservations go to servers drawn from those that are feasible for it: one
// each, or more where there are fewer servers than reservations. The tasks go to the first m servers that
// ask; the others are told that none is left, or better, told before they ask.
//
// Where tasks have servers of their own, each draws d of its own. A server that asks gets a task that drew
// it, or else any that may run there: the former has the fewest other servers to wait for.
//
// Nothing is stored on disk and nothing is shared with other agents. What a job loses with a server or a
// message is replaced:
//   - its reservations there: others take their place;
//   - its tasks given to the server: given away again, or lost for good where the job runs at most once. One
//     of such a job is given away again only where the monitor says that it did not start it.
//
// The load is known from the answers only (probe_ratio.h). Single-threaded; no I/O. O(d * m) for a job and
// O(1) for a message, but for the loss of a server: O(reservations and tasks of all jobs).
class JobScheduler {
 public:
  // `agent`: the number by which monitors know this agent. Requires: options without problems.
  JobScheduler(const SchedulerOptions& options, AgentNumber agent)
      : options_(options), agent_(agent), ratio_(options) {}

  // --- Servers
  // A server that may be probed from now on.
  void serverUp(ServerId server) { groups_.setUp(server); }
  // The session with its monitor is over.
  void serverLost(ServerId server, MonotonicTime now, Rng& rng, SchedulerActions& actions);
  // For jobs whose tasks may not run everywhere.
  ServerGroups& groups() { return groups_; }

  // --- Jobs
  // kUnavailable, and the job is not taken, where some task has no server that is up. Requires: the job is as
  // late_job.h says.
  Result<JobNumber> submit(LateJob job, MonotonicTime now, Rng& rng, SchedulerActions& actions);
  // No more of its tasks are launched, and those that were are stopped. Unknown jobs are over already.
  void cancel(JobNumber job, SchedulerActions& actions);

  // --- Messages of monitors
  void handle(const Ask& message, MonotonicTime now, SchedulerActions& actions);
  // Asks that came together: where tasks have servers of their own, the server that is feasible for the
  // fewest is served first, so that another does not take the only task that it could have run.
  void handle(std::span<const Ask> messages, MonotonicTime now, SchedulerActions& actions);
  void handle(const Started& message);
  void handle(const NotStarted& message, MonotonicTime now, Rng& rng, SchedulerActions& actions);
  void handle(const Ended& message, SchedulerActions& actions);
  void handle(const QueueLength& message, SchedulerActions& actions);

  // --- Time
  // Repeats messages that may have been lost. Called at nextWake(), or a little later.
  void advance(MonotonicTime now, Rng& rng, SchedulerActions& actions);
  // max() if nothing will become due.
  MonotonicTime nextWake() const { return alarms_.empty() ? MonotonicTime::max() : alarms_.front().at; }

  // The job's tasks that are not launched at any server. Requires: the job is not over.
  uint32_t waiting(JobNumber job) const { return jobs_[static_cast<uint32_t>(job)].waiting; }
  size_t jobs() const { return jobs_.size() - free_.size(); }
  // The d that the next job gets if it sets none.
  double probeRatio() const { return ratio_.ratio(); }

 private:
  struct Alarm {
    MonotonicTime at{};
    JobNumber job = 0;
    bool operator>(const Alarm& other) const { return at > other.at; }
  };

  // --- Keeping jobs
  HeldJob* find(JobNumber number);
  HeldJob& keep(LateJob&& job, MonotonicTime now);
  void closeIfOver(HeldJob& job, SchedulerActions& actions);
  void setAlarm(const HeldJob& job, MonotonicTime at);

  // --- Late binding (job_scheduler.cc)
  void probe(HeldJob& job, Rng& rng, SchedulerActions& actions);
  void probeTask(HeldJob& job, TaskIndex task, Rng& rng);
  void sendPicks(HeldJob& job, SchedulerActions& actions);
  void reserve(HeldJob& job, ServerId server, uint32_t count, SchedulerActions& actions);
  void cancelOutstanding(HeldJob& job, SchedulerActions& actions);
  void cancelUseless(HeldJob& job, TaskIndex given, SchedulerActions& actions);
  void stopTasks(const HeldJob& job, SchedulerActions& actions);
  void give(HeldJob& job, TaskIndex task, const Ask& ask, MonotonicTime now, SchedulerActions& actions);
  TaskIndex nextFor(HeldJob& job, ServerId server);
  size_t feasibleTasks(const HeldJob& job, ServerId server) const;
  void takeBack(HeldJob& job, TaskIndex task, MonotonicTime now, SchedulerActions& actions);
  void makeGood(HeldJob& job, Rng& rng, SchedulerActions& actions);
  void repeat(HeldJob& job, Rng& rng, SchedulerActions& actions);
  void end(HeldJob& job, TaskIndex task, Outcome outcome, SchedulerActions& actions,
           const Ended* ended = nullptr);

  // --- Without late binding (early_binding.cc)
  void look(HeldJob& job, Rng& rng, SchedulerActions& actions);
  void forgetLengths(HeldJob& job);
  void placeByLength(HeldJob& job, SchedulerActions& actions);
  void placeAnywhere(HeldJob& job, Rng& rng, SchedulerActions& actions);
  void bind(HeldJob& job, TaskIndex task, ServerId server, SchedulerActions& actions);

  Reserve reserveOf(const HeldJob& job, ProbeIndex probe) const;

  const SchedulerOptions options_;
  const AgentNumber agent_;
  ServerGroups groups_;
  ProbeRatio ratio_;
  std::vector<HeldJob> jobs_;
  std::vector<uint32_t> free_;  // positions in jobs_
  std::vector<Alarm> alarms_;   // a heap, the first to ring in front; those of jobs that are over are ignored
  std::vector<ServerId> picks_;                       // scratch of probe()
  std::vector<ServerId> own_;                         // scratch of probeTask()
  std::vector<std::pair<size_t, const Ask*>> order_;  // scratch of handle(): by feasible tasks
};

}  // namespace tarcil::late
