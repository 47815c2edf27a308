#include "master/logic/jobs/flush.h"

#include <algorithm>
#include <utility>

#include "master/logic/audit/audited.h"
#include "master/logic/cron/cron_jobs.h"
#include "master/logic/jobs/dependencies.h"
#include "master/logic/jobs/job_numbers.h"
#include "master/logic/jobs/profiling.h"
#include "master/logic/jobs/task_life.h"
#include "master/logic/queue/offers.h"
#include "master/logic/servers/pools.h"

namespace tarcil::master {
namespace {

// Finished jobs that are erased per event: each may have 100,000 tasks, and a batch must not become so large
// that everybody waits for it.
constexpr size_t kMaxErasedAtOnce = 200;

// A job is what the most advanced of its unfinished tasks is; at the end, what the worst of its tasks became.
RunState stateOf(const Job& job) {
  for (RunState state : {RunState::kRunning, RunState::kStarting, RunState::kQueued, RunState::kFailed,
                         RunState::kLost, RunState::kCancelled}) {
    if (job.count(state) > 0) return state;
  }
  return RunState::kDone;
}

// Why a job ended otherwise than as done.
const char* whatBecame(RunState state) {
  if (state == RunState::kFailed) return "failed";
  return state == RunState::kLost ? "were lost" : "were cancelled";
}

std::string endReason(const Job& job, RunState state) {
  const TaskRecord* first = nullptr;
  job.tasks.forEachRecord([state, &first](const TaskRecord& task) {
    if (first == nullptr && task.state == state) first = &task;
  });
  const std::string how = describe(first->end);
  if (job.tasks.size() == 1) return "the task " + how;
  return std::to_string(job.count(state)) + " of " + std::to_string(job.tasks.size()) + " tasks " +
         whatBecame(state) + "; first: task " + std::to_string(first->index) + " " + how;
}

void finish(EventContext& context, Job& job, RunState state) {
  if (state == RunState::kDone) job.progress.reason.clear();
  const bool wasCancelled = job.progress.cancelRequested;
  if (state != RunState::kDone && !wasCancelled) job.progress.reason = endReason(job, state);
  job.progress.finished = context.now.wall;
  // Those of a job that is done nobody needs any more.
  job.progress.keepsFiles = job.record.hasFiles && state != RunState::kDone;
  if (job.record.hasFiles && state == RunState::kDone) context.out.erase(EraseFiles{job.record.id});
  context.tables.agents.named(job.progress.owner).jobs.erase(job.record.id);
  forgetOthers(context, job);
  context.tables.jobs.addFinished(job);
  context.tables.usage.addJob(job.record.user, state);
  endProfiling(context, job, state);
  noteEndOfCronJob(context, job, state);
}

void updateState(EventContext& context, Job& job) {
  const RunState state = stateOf(job);
  if (state == job.progress.state) return;
  if (isFinal(state)) finish(context, job, state);
  context.tables.jobs.setState(job, state);
}

void makeUnique(TasksChanged& tasks) {
  std::sort(tasks.begin(), tasks.end());
  tasks.erase(std::unique(tasks.begin(), tasks.end()), tasks.end());
}

TaskAssignment assignmentOf(const Tables& tables, const Job& job, TaskIndex index) {
  TaskAssignment assignment;
  assignment.index = index;
  assignment.attempt = job.tasks.attempt(index);
  assignment.state = job.tasks.state(index);
  const TaskRecord* task = job.tasks.find(index);
  if (task == nullptr) return assignment;
  if (task->state == RunState::kQueued) assignment.delay = restartDelay(job.record.spec, *task);
  if (isActive(task->state)) {
    assignment.allocation = task->allocation;
    assignment.server = tables.jobs.holder(task->allocation)->server;
    assignment.rus = task->rus;
    assignment.extras = task->extras;
  }
  return assignment;
}

void tellOwner(EventContext& context, const Job& job) {
  const Tables& tables = context.tables;
  const auto owner = tables.agents.all().find(job.progress.owner);
  if (owner == tables.agents.all().end() || !owner->second.session) return;
  if (owner->second.isUntold(job.record.id)) return;
  const bool over = isFinal(job.progress.state);
  if (job.changes.whole && !over) {
    context.out.send(AssignJob{*owner->second.session, wholeAssignment(tables, job)});
  } else if (over || !job.changes.news.empty()) {
    JobAssignment assignment{job.record, false, over, {}};
    assignment.job.spec.items = {};  // which it has, and which may be large
    for (TaskIndex task : job.changes.news) {
      assignment.tasks.push_back(assignmentOf(tables, job, task));
    }
    context.out.send(AssignJob{*owner->second.session, std::move(assignment)});
  }
}

void flushJob(EventContext& context, Job& job) {
  updateState(context, job);
  noteAwaitedTasks(context, job);
  context.tables.jobs.reorder(job);
  makeUnique(job.changes.tasks);
  makeUnique(job.changes.news);
  if (job.changes.progress) context.out.put(job.progress);
  for (TaskIndex task : job.changes.tasks) context.out.put(std::as_const(job.tasks)[task]);
  tellOwner(context, job);
  noteForWaiters(context, job);
  if (job.changes.progress || !job.changes.tasks.empty()) {
    context.out.send(JobChanged{job.record.id, isFinal(job.progress.state)});
  }
  // Assigned empty ones, lists that have grown would keep their memory.
  std::exchange(job.changes, {});
}

// Whether the oldest finished job is to be erased.
bool isTooOld(const EventContext& context) {
  const Tables& tables = context.tables;
  const Job* oldest = tables.jobs.oldestFinished();
  if (oldest == nullptr) return false;
  const bool isTooMuch =
      tables.jobs.finished() > 1 && tables.jobs.finishedBytes() > tables.options.keepFinishedBytes;
  const bool isOld = context.now.steady >= tables.ageCountsFrom &&
                     queueTime(context) - oldest->progress.finished >= tables.options.keepFinishedFor;
  return isTooMuch || isOld || tables.jobs.finished() > tables.options.keepFinishedJobs;
}

void eraseOldJobs(EventContext& context) {
  Tables& tables = context.tables;
  size_t erased = 0;
  while (isTooOld(context) && erased++ < kMaxErasedAtOnce) {
    if (!giveUpWaiting(context, *tables.jobs.oldestFinished())) break;
    const JobRecord& oldest = tables.jobs.oldestFinished()->record;
    keepNumber(context, oldest.number);
    context.out.erase(EraseJob{oldest.id});
    tables.jobs.eraseOldestFinished();
  }
  // The oldest may go before its time, for its number; then the timer finds nothing to do and sets the next.
  const Job* oldest = tables.jobs.oldestFinished();
  const MonotonicTime now = context.now.steady;
  if (oldest == nullptr) {
    tables.historyDue.reset();
  } else if (isTooOld(context)) {
    tables.historyDue = now;
  } else if (!tables.historyDue || *tables.historyDue <= now) {
    const Duration left = oldest->progress.finished + tables.options.keepFinishedFor - queueTime(context);
    tables.historyDue = std::max(now + left, tables.ageCountsFrom);
  }
}

// Those of the jobs that ended first go first.
void eraseKeptFiles(EventContext& context) {
  JobTable& jobs = context.tables.jobs;
  while (jobs.keptFileBytes() > context.tables.options.keepFileBytes) {
    Job& job = *jobs.oldestWithFiles();
    context.out.erase(EraseFiles{job.record.id});
    jobs.forgetFiles(job);
  }
}

void askForWake(EventContext& context) {
  Tables& tables = context.tables;
  std::optional<MonotonicTime> next = tables.servers.nextDeadline();
  // Its job is tried anew when its bound passes, also where nothing else happens.
  std::optional<MonotonicTime> reservationDue;
  if (tables.reservation) reservationDue = tables.reservation->widenAt;
  std::optional<MonotonicTime> releaseDue;
  if (const auto release = tables.jobs.nextRelease()) {
    releaseDue = context.now.steady + std::max(Duration::zero(), *release - context.now.wall);
  }
  std::optional<MonotonicTime> cronDue;
  if (const auto time = tables.crons.nextDue()) {
    cronDue = context.now.steady + std::max(Duration::zero(), *time - context.now.wall);
  }
  std::optional<MonotonicTime> goesOn;
  if (tables.jobs.queue().isInterrupted() || tables.servers.hasUpdates() || tables.dependencies.hasDue() ||
      tables.crons.hasToGoOn())
    goesOn = context.now.steady;
  for (const auto& other :
       {goesOn, tables.agents.nextDeadline(), tables.handOverDue, tables.historyDue, tables.offersDue,
        tables.violations.due.next(), tables.throttles.due.next(), tables.pools.due, tables.preemptionDue,
        reservationDue, releaseDue, cronDue, tables.crons.nextRetry(), tables.jobs.followers().nextDue(),
        tables.uploads.nextDue(), tables.refusals.nextDue()}) {
    if (!next || (other && *other < *next)) next = other;
  }
  if (!next || next == tables.wakeAt) return;
  tables.wakeAt = next;
  context.out.send(WakeAt{*next});
}

// Also those that the end of others changes.
void flushJobs(EventContext& context) {
  for (JobsChanged noted = context.tables.jobs.takeNoted(); !noted.empty();
       noted = context.tables.jobs.takeNoted()) {
    for (Job* job : noted) flushJob(context, *job);
  }
}

}  // namespace

JobAssignment wholeAssignment(const Tables& tables, const Job& job) {
  JobAssignment assignment{job.record, true, false, {}};
  for (TaskIndex task = 0; task < job.tasks.size(); ++task) {
    if (isFinal(job.tasks.state(task)) || job.awaiting.contains(task)) continue;
    if (job.tasks.find(task) != nullptr) {
      assignment.tasks.push_back(assignmentOf(tables, job, task));
    } else if (!assignment.waiting.empty() && assignment.waiting.back().last + 1 == task) {
      assignment.waiting.back().last = task;
    } else {
      assignment.waiting.push_back({task, task});
    }
  }
  return assignment;
}

void flush(EventContext& context) {
  flushJobs(context);
  settleDependencies(context);
  goOnWithCrons(context);
  for (Usage& usage : context.tables.usage.takeChanged()) context.out.put(std::move(usage));
  eraseOldJobs(context);
  eraseKeptFiles(context);
  flushJobs(context);
  for (ServerUpdate& update : context.tables.servers.takeUpdates()) {
    context.out.send(PublishServer{std::move(update)});
  }
  offerJobs(context);
  limitPools(context);
  concludeAudit(context);
  askForWake(context);
  context.out.close();
}

}  // namespace tarcil::master
