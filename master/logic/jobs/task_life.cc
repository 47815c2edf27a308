#include "master/logic/jobs/task_life.h"

#include <algorithm>

#include "core/state/reason.h"
#include "master/logic/health/relocation.h"
#include "master/logic/health/violation_handler.h"
#include "master/logic/jobs/observed_profiles.h"
#include "master/logic/people/account_bounds.h"

namespace tarcil::master {
namespace {

// Longer backoffs are cut to this, so that doubling cannot overflow.
constexpr Duration kMaxBackoff = std::chrono::hours(24 * 365);
constexpr uint32_t kMaxDoublingsOfBackoff = 6;

// Starts of a task that fail by its servers' fault and do not count: enough for two servers to be set aside
// (MasterOptions::quarantineAfter) and the task to go elsewhere, and not so many that a job which nobody can
// start sets aside all there are.
constexpr uint32_t kMostExcused = 10;

// Where the task goes after an attempt; counts the failure if it was one.
RunState nextState(const Job& job, TaskRecord& task) {
  if (task.end.succeeded()) return RunState::kDone;
  if (job.progress.cancelRequested) return RunState::kCancelled;
  // It is to go elsewhere, or its server was shut down.
  if (task.end.cause == EndCause::kCancelled) return RunState::kQueued;
  const RestartPolicy& restart = job.record.spec.restart;
  if (task.end.cause == EndCause::kLost) return restart.onLost ? RunState::kQueued : RunState::kLost;
  if (serversFault(task.end) && task.excused < kMostExcused) {
    ++task.excused;
    return RunState::kQueued;
  }
  ++task.failures;
  return task.failures <= restart.attempts ? RunState::kQueued : RunState::kFailed;
}

}  // namespace

AllocationId newAllocation(EventContext& context) {
  Tables& tables = context.tables;
  if (tables.nextAllocation >= tables.cluster.nextAllocation) {
    tables.cluster.nextAllocation = tables.nextAllocation + kAllocationBlock;
    context.out.put(tables.cluster);
  }
  return tables.nextAllocation++;
}

void placeTask(EventContext& context, Job& job, const Claim& claim, const Grant& grant, uint32_t decision) {
  const Server& server = context.tables.servers.at(claim.server);
  TaskRecord& task = job.tasks[claim.task];
  task.allocation = grant.allocation;
  task.server = server.record.facts.name;
  task.rus = grant.rus;
  task.extras = grant.extras;
  task.q = claim.q;
  task.s = claim.s;
  task.decision = decision;
  task.placed = context.now.wall;
  context.tables.jobs.setState(job, claim.task, RunState::kStarting);
  context.tables.jobs.hold(
      grant.allocation, {&job, claim.task, claim.server, unitsKept(context.tables, job.record.spec, server)});
  context.tables.jobs.queue().order().noteGrant(JobTable::queueKeyOf(job), queueTime(context));
}

void startTask(EventContext& context, const Hold& hold, WallTime started) {
  TaskRecord& task = hold.job->tasks[hold.task];
  if (task.state == RunState::kRunning) return;
  task.end = {};
  task.end.started = started;
  context.tables.jobs.setState(*hold.job, hold.task, RunState::kRunning);
}

void endTask(EventContext& context, const Hold& hold, const TaskEnd& end, Duration mayRunFor) {
  Tables& tables = context.tables;
  const Hold held = hold;  // the table's own entry goes away below
  const TaskRecord& task = held.job->tasks[held.task];
  const AllocationId allocation = task.allocation;
  forgetViolation(context, held);
  observeRun(context, held);
  tables.throttles.erase(allocation);
  tables.usage.addAttempt(held.job->record.user, held.job->record.spec.rusPerTask,
                          context.now.wall - task.placed);
  tables.servers.vacate(tables.servers.at(held.server), allocation);
  tables.jobs.release(allocation);
  tables.jobs.queue().order().noteGrant(JobTable::queueKeyOf(*held.job), queueTime(context));
  concludeAttempt(context, *held.job, held.task, end, mayRunFor);
  startRelocated(context, *held.job, held.task);
}

void concludeAttempt(EventContext& context, Job& job, TaskIndex index, const TaskEnd& end,
                     Duration mayRunFor) {
  TaskRecord& task = job.tasks[index];
  const WallTime started = task.state == RunState::kRunning ? task.end.started : kNever;
  task.end = end;
  task.end.problem = asReason(std::move(task.end.problem));
  if (task.end.started == kNever) task.end.started = started;
  if (task.moving && task.end.cause == EndCause::kCancelled) {
    task.end.problem = task.movedFor;
  }
  const RunState next = nextState(job, task);
  if (task.moving) --job.moving;
  task.stopping = task.moving = false;
  task.movedFor.clear();
  if (next == RunState::kQueued) {
    beginNextAttempt(task);
    task.mayRunFor = job.record.spec.exclusive ? mayRunFor : Duration::zero();
  }
  context.tables.jobs.setState(job, index, next);
}

void moveTask(EventContext& context, const Hold& hold, const std::string& why) {
  TaskRecord& task = hold.job->tasks[hold.task];
  if (!task.stopping) {
    task.stopping = task.moving = true;
    ++hold.job->moving;
    task.movedFor = why;
    context.tables.jobs.noteTask(*hold.job, hold.task);
  }
  const Server& server = context.tables.servers.at(hold.server);
  if (server.session) context.out.send(StopTask{*server.session, task.allocation});
}

void loseTasks(EventContext& context, Server& server, const std::string& reason) {
  TaskEnd end;
  end.cause = EndCause::kLost;
  end.problem = reason;
  end.ended = context.now.wall;
  while (!server.residents.empty()) {
    endTask(context, *context.tables.jobs.holder(server.residents.back().allocation), end);
  }
}

void cancelJob(EventContext& context, Job& job, const std::string& reason) {
  JobTable& jobs = context.tables.jobs;
  if (!job.progress.cancelRequested) {
    job.progress.cancelRequested = true;
    job.progress.reason = reason;
    job.awaiting = {};
    jobs.cancelWithoutRecord(job);
  }
  job.tasks.forEachRecord([&context, &jobs, &job](TaskRecord& task) {
    if (task.state == RunState::kQueued) {
      task.end = {};
      task.end.cause = EndCause::kCancelled;
      task.end.ended = context.now.wall;
      jobs.setState(job, task.index, RunState::kCancelled);
    } else if (!isFinal(task.state)) {
      if (!task.stopping) jobs.noteTask(job, task.index);
      task.stopping = true;
      const Server& server = context.tables.servers.at(jobs.holder(task.allocation)->server);
      if (server.session) context.out.send(StopTask{*server.session, task.allocation});
    }
  });
}

Duration restartDelay(const JobSpec& spec, const TaskRecord& task) {
  const uint32_t tries = task.failures + task.excused;
  if (tries == 0) return task.mayRunFor;
  const Duration backoff = std::clamp(spec.restart.backoff, Duration::zero(), kMaxBackoff);
  return std::max(backoff * (1 << std::min(tries - 1, kMaxDoublingsOfBackoff)), task.mayRunFor);
}

void beginNextAttempt(TaskRecord& task) {
  if (task.earlier.size() == kMostEarlierAttempts) task.earlier.erase(task.earlier.begin());
  task.earlier.push_back({task.attempt, task.allocation, task.server});
  task.previous = describe(task.end);
  ++task.attempt;
}

std::string describe(const TaskEnd& end) {
  switch (end.cause) {
    case EndCause::kNeverStarted:
      return "could not be started: " + end.problem;
    case EndCause::kCancelled:
      return end.problem.empty() ? "was stopped" : "was stopped: " + end.problem;
    case EndCause::kTimedOut:
      return "ran longer than its timeout";
    case EndCause::kLost:
      return "was lost: " + end.problem;
    case EndCause::kExited:
      break;
  }
  if (end.oomKilled) return "ran out of memory";
  if (end.signal != 0) return "was ended by signal " + std::to_string(end.signal);
  return "exited with code " + std::to_string(end.exitCode);
}

}  // namespace tarcil::master
