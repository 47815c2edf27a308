#include "master/logic/jobs/dependencies.h"

#include <algorithm>

#include "master/logic/jobs/task_life.h"

namespace tarcil::master {
namespace {

// Jobs that tasks of one may be waited for by: each is looked at whenever a task ends.
constexpr size_t kMaxEachWaiters = 100;
// Jobs that are looked up per event to see whether others may start: some milliseconds.
constexpr size_t kLooksAtOnce = 10'000;
// Jobs that are cancelled per event as what they waited for is erased.
constexpr size_t kGivenUpAtOnce = 100;
// Tasks of one job that are looked at per event, where all of them have to be.
constexpr uint32_t kTasksAtOnce = 1'000;
// Jobs that wait for one whose tasks have ended, times these tasks: more are looked at in turns.
constexpr size_t kPairsAtOnce = 1'000;

std::string inWords(const Job& job) {
  const std::string number = std::to_string(job.record.number);
  return job.record.spec.name.empty() ? "job " + number : job.record.spec.name + " (" + number + ")";
}

std::string ended(RunState state) {
  switch (state) {
    case RunState::kFailed:
      return "failed";
    case RunState::kCancelled:
      return "was cancelled";
    case RunState::kLost:
      return "was lost";
    default:
      return "is done";
  }
}

// What a job's dependencies as a whole come to now.
struct Standing {
  const Job* unmet = nullptr;    // one that ended otherwise than it was to
  const Job* awaited = nullptr;  // else one that has not ended
  size_t others = 0;             // that have not ended either

  bool isOpen() const { return unmet != nullptr || awaited != nullptr; }
};

class Judge {
 public:
  explicit Judge(const JobTable& jobs) : jobs_(jobs) {}

  Standing judge(const After& after) {
    for (const JobId& id : after.ok) look(id, [](RunState state) { return state == RunState::kDone; });
    for (const JobId& id : after.any) look(id, [](RunState) { return true; });
    for (const JobId& id : after.failed) look(id, [](RunState state) { return state != RunState::kDone; });
    return standing_;
  }

 private:
  template <typename IsMet>
  void look(const JobId& id, IsMet isMet) {
    const Job* job = jobs_.find(id);
    if (job == nullptr) return;
    if (!isFinal(job->progress.state)) {
      if (standing_.awaited != nullptr) ++standing_.others;
      if (standing_.awaited == nullptr) standing_.awaited = job;
    } else if (!isMet(job->progress.state) && standing_.unmet == nullptr) {
      standing_.unmet = job;
    }
  }

  const JobTable& jobs_;
  Standing standing_;
};

// Whether the jobs that it starts after were let go already: what becomes of these afterwards, as they are
// run again, is nothing to it. One that waits may have tasks that were placed before it was run again itself.
bool hasStarted(const Job& job) {
  if (job.active() > 0) return true;
  if (job.progress.heldForJobs) return false;
  bool wasPlaced = false;
  job.tasks.forEachRecord([&wasPlaced](const TaskRecord& task) { wasPlaced |= task.allocation != 0; });
  return wasPlaced;
}

bool isCancelledFor(const Standing& standing, const After& after) {
  return standing.unmet != nullptr && after.unmet == After::Unmet::kCancel;
}

std::string reasonToCancel(const Standing& standing) {
  return inWords(*standing.unmet) + ", which it was to start after, " + ended(standing.unmet->progress.state);
}

std::string reasonOf(const Standing& standing) {
  if (standing.unmet != nullptr) {
    const std::string number = std::to_string(standing.unmet->record.number);
    return "waits for " + inWords(*standing.unmet) + ", which " + ended(standing.unmet->progress.state) +
           ": run that again (tarcil job rerun " + number + "), or release or cancel this one";
  }
  std::string reason = "starts after " + inWords(*standing.awaited);
  if (standing.others > 0) reason += " and " + std::to_string(standing.others) + " more";
  return reason;
}

void holdForJobs(EventContext& context, Job& job, const std::string& reason) {
  if (job.isHeldByUser() || (job.progress.heldForJobs && job.progress.reason == reason)) return;
  context.tables.jobs.holdForJobs(job, reason);
}

void letGo(EventContext& context, Job& job) {
  if (!job.progress.heldForJobs) return;
  if (job.record.spec.startAfter > context.now.wall) {
    context.tables.jobs.holdUntilItsTime(job);
  } else {
    context.tables.jobs.release(job);
  }
}

void judgeJob(EventContext& context, Job& job) {
  if (hasStarted(job)) return letGo(context, job);
  const After& after = job.record.spec.after;
  const Standing standing = Judge(context.tables.jobs).judge(after);
  if (!standing.isOpen()) return letGo(context, job);
  if (isCancelledFor(standing, after)) return cancelJob(context, job, reasonToCancel(standing));
  holdForJobs(context, job, reasonOf(standing));
}

void cancelTask(EventContext& context, Job& job, TaskIndex index, const std::string& problem) {
  TaskRecord& task = job.tasks[index];
  task.end = {};
  task.end.cause = EndCause::kCancelled;
  task.end.problem = problem;
  task.end.ended = context.now.wall;
  context.tables.jobs.setState(job, index, RunState::kCancelled);
}

// The task, which waits for one of its own index.
void judgeTask(EventContext& context, Job& job, TaskIndex index, const Job& other) {
  const RunState state = other.tasks.state(index);
  if (!isFinal(state)) return;
  if (state == RunState::kDone) {
    job.awaiting.erase(index);
    context.tables.jobs.noteNews(job, index);
  } else if (job.record.spec.after.unmet == After::Unmet::kCancel) {
    job.awaiting.erase(index);
    cancelTask(context, job, index,
               "task " + std::to_string(index) + " of " + inWords(other) + " " + ended(state));
  }
}

void cancelAwaiting(EventContext& context, Job& job, const std::string& problem) {
  for (TaskIndex task = 0; task < job.tasks.size(); ++task) {
    if (!job.awaiting.contains(task)) continue;
    job.awaiting.erase(task);
    cancelTask(context, job, task, problem);
  }
}

// All that wait, from where the last look stopped. True where there are more.
bool judgeTasks(EventContext& context, Job& job) {
  AwaitingTasks& awaiting = job.awaiting;
  const Job* other = context.tables.jobs.find(*job.record.spec.after.each);
  if (other == nullptr) return false;
  for (uint32_t looked = 0; awaiting.next < job.tasks.size(); ++awaiting.next) {
    if (!awaiting.contains(awaiting.next)) continue;
    if (looked++ == kTasksAtOnce) return true;
    judgeTask(context, job, awaiting.next, *other);
  }
  awaiting.next = 0;
  return false;
}

// Tasks that were never placed wait for those of the other job that are not done.
void awaitTasks(Job& job, const Job& other) {
  for (TaskIndex task = 0; task < job.tasks.size(); ++task) {
    const bool isNew = job.tasks.state(task) == RunState::kQueued && job.tasks.attempt(task) == 0;
    if (isNew && other.tasks.state(task) != RunState::kDone) job.awaiting.insert(task, job.tasks.size());
  }
}

std::string problemWith(const JobTable& jobs, const JobRecord& record, const JobId& id) {
  if (id == record.id) return "a job cannot start after itself; leave it out";
  const Job* other = jobs.find(id);
  // Somebody else's job looks as if it were not there.
  if (other != nullptr && other->record.user == record.user) return "";
  return record.user + " has no job " + toString(id) +
         " that can be waited for: it ended long ago, is late-bound, or never was; name one that is";
}

}  // namespace

void DependencyTable::add(const JobId& waiter, const After& after) {
  for (const auto* list : {&after.ok, &after.any, &after.failed}) {
    for (const JobId& id : *list) waiters_[id].insert(waiter);
  }
  if (after.each) eachWaiters_[*after.each].insert(waiter);
}

void DependencyTable::erase(const JobId& waiter, const After& after) {
  const auto eraseFrom = [&waiter](Waiters& waiters, const JobId& id) {
    const auto found = waiters.find(id);
    if (found == waiters.end()) return;
    found->second.erase(waiter);
    if (found->second.empty()) waiters.erase(found);
  };
  for (const auto* list : {&after.ok, &after.any, &after.failed}) {
    for (const JobId& id : *list) eraseFrom(waiters_, id);
  }
  if (after.each) eraseFrom(eachWaiters_, *after.each);
  due_.erase(waiter);
}

const std::set<JobId>& DependencyTable::of(const Waiters& waiters, const JobId& job) {
  static const std::set<JobId> kNone;
  const auto found = waiters.find(job);
  return found == waiters.end() ? kNone : found->second;
}

JobId DependencyTable::takeDue() {
  const JobId first = *due_.begin();
  due_.erase(due_.begin());
  return first;
}

std::string whyNotAfter(const Tables& tables, const JobRecord& record) {
  const After& after = record.spec.after;
  for (const auto& [name, list] :
       {std::pair{"ok", &after.ok}, std::pair{"any", &after.any}, std::pair{"failed", &after.failed}}) {
    for (const JobId& id : *list) {
      if (std::string problem = problemWith(tables.jobs, record, id); !problem.empty())
        return std::string("after.") + name + ": " + problem;
    }
  }
  if (!after.each) return "";
  if (std::string problem = problemWith(tables.jobs, record, *after.each); !problem.empty())
    return "after.each: " + problem;
  if (tables.dependencies.eachWaitersFor(*after.each).size() >= kMaxEachWaiters)
    return "after.each: " + std::to_string(kMaxEachWaiters) +
           " jobs start task by task after that job, as many as may; write ok: in place of each:";
  const uint32_t tasks = tables.jobs.find(*after.each)->record.spec.tasks;
  if (tasks == record.spec.tasks) return "";
  return "after.each: that job has " + std::to_string(tasks) + " tasks, and this one " +
         std::to_string(record.spec.tasks) + "; write as many, or ok: in place of each:";
}

AfterOutlook outlookOf(const Tables& tables, const JobSpec& spec) {
  const Standing standing = Judge(tables.jobs).judge(spec.after);
  if (isCancelledFor(standing, spec.after)) return {true, reasonToCancel(standing)};
  if (standing.isOpen()) return {false, reasonOf(standing)};
  const Job* other = spec.after.each ? tables.jobs.find(*spec.after.each) : nullptr;
  if (other == nullptr || other->progress.state == RunState::kDone) return {};
  std::string reason = "its tasks start one by one after those of " + inWords(*other);
  if (isFinal(other->progress.state)) reason += ", which " + ended(other->progress.state);
  return {false, reason};
}

std::string whyNotNow(const Tables& tables, const After& after) {
  const Standing standing = Judge(tables.jobs).judge(after);
  if (!isCancelledFor(standing, after)) return "";
  return "starts after " + inWords(*standing.unmet) + ", which " + ended(standing.unmet->progress.state) +
         ": run that again first";
}

void awaitOthers(EventContext& context, Job& job) {
  const After& after = job.record.spec.after;
  if (after.empty()) return;
  Tables& tables = context.tables;
  tables.dependencies.add(job.record.id, after);
  if (after.each) {
    const Job* other = tables.jobs.find(*after.each);
    if (other != nullptr) awaitTasks(job, *other);
  }
  tables.dependencies.noteDue(job.record.id);
  if (!job.isHeldByUser() && !hasStarted(job)) holdForOthers(context, job);
}

bool holdForOthers(EventContext& context, Job& job) {
  // Its user lets it go on, and not start.
  if (job.isHeldByUser() && hasStarted(job)) return false;
  const Standing standing = Judge(context.tables.jobs).judge(job.record.spec.after);
  if (!standing.isOpen()) return false;
  context.tables.jobs.holdForJobs(job, reasonOf(standing));
  return true;
}

void forgetOthers(EventContext& context, Job& job) {
  if (job.record.spec.after.empty()) return;
  context.tables.dependencies.erase(job.record.id, job.record.spec.after);
  job.awaiting = {};
}

void noteForWaiters(EventContext& context, const Job& job) {
  Tables& tables = context.tables;
  const JobId& id = job.record.id;
  if (isFinal(job.progress.state)) {
    for (const JobId& waiter : tables.dependencies.waitersFor(id)) tables.dependencies.noteDue(waiter);
  }
  const std::set<JobId>& waiters = tables.dependencies.eachWaitersFor(id);
  if (waiters.empty()) return;
  const auto isOver = [&job](TaskIndex task) { return isFinal(job.tasks.state(task)); };
  const auto over = static_cast<size_t>(std::ranges::count_if(job.changes.tasks, isOver));
  const bool areMany = job.changes.whole || over * waiters.size() > kPairsAtOnce;
  for (const JobId& each : waiters) {
    if (areMany) {
      tables.dependencies.noteDue(each);
      continue;
    }
    Job& waiter = *tables.jobs.find(each);
    for (const TaskIndex task : job.changes.tasks) {
      if (isOver(task) && waiter.awaiting.contains(task)) judgeTask(context, waiter, task, job);
    }
  }
}

bool giveUpWaiting(EventContext& context, const Job& job) {
  const JobId& id = job.record.id;
  const bool isDone = job.progress.state == RunState::kDone;
  const std::string reason =
      inWords(job) + ", which it waited for, " + ended(job.progress.state) + " and is forgotten";
  std::vector<Job*> inVain;
  const auto waitsInVain = [&id, isDone](const After& after) {
    return std::ranges::count(isDone ? after.failed : after.ok, id) > 0;
  };
  for (const JobId& waiter : context.tables.dependencies.waitersFor(id)) {
    Job& other = *context.tables.jobs.find(waiter);
    if (!other.progress.cancelRequested && !hasStarted(other) && waitsInVain(other.record.spec.after))
      inVain.push_back(&other);
    if (inVain.size() > kGivenUpAtOnce) break;
  }
  for (const JobId& waiter : context.tables.dependencies.eachWaitersFor(id)) {
    Job& other = *context.tables.jobs.find(waiter);
    if (context.tables.dependencies.isDue(waiter)) return false;  // not all of its tasks were looked at
    if (other.progress.cancelRequested || other.awaiting.count() == 0) continue;
    cancelAwaiting(context, other, reason);
    return false;  // the tasks of another one with the next event
  }
  const bool areAll = inVain.size() <= kGivenUpAtOnce;
  if (!areAll) inVain.pop_back();
  for (Job* other : inVain) cancelJob(context, *other, reason);
  return areAll;
}

void settleDependencies(EventContext& context) {
  Tables& tables = context.tables;
  for (size_t looks = 0; looks < kLooksAtOnce && tables.dependencies.hasDue();) {
    const JobId id = tables.dependencies.takeDue();
    Job& job = *tables.jobs.find(id);
    const After& after = job.record.spec.after;
    looks += 1 + after.size() + (after.each ? kTasksAtOnce : 0);
    if (isFinal(job.progress.state) || job.progress.cancelRequested) continue;
    judgeJob(context, job);
    if (job.progress.cancelRequested || !after.each) continue;
    if (judgeTasks(context, job)) tables.dependencies.noteDue(id);
  }
}

void noteAwaitedTasks(EventContext& context, Job& job) {
  const bool allWait = job.awaiting.count() > 0 && job.awaiting.count() == job.unfinished();
  if (!allWait || job.progress.held || job.progress.cancelRequested) return;
  const Job* other = context.tables.jobs.find(*job.record.spec.after.each);
  if (other == nullptr) return;
  const std::string reason = "its tasks start after those of " + inWords(*other);
  if (job.progress.reason == reason) return;
  job.progress.reason = reason;
  context.tables.jobs.noteProgress(job);
}

}  // namespace tarcil::master
