#include "master/logic/jobs/job_steering.h"

#include "master/logic/jobs/acceptance.h"
#include "master/logic/jobs/dependencies.h"
#include "master/logic/jobs/rejudging.h"
#include "master/logic/jobs/task_life.h"
#include "master/logic/jobs/uploads.h"
#include "master/logic/people/account_bounds.h"
#include "master/logic/queue/reservation.h"

namespace tarcil::master {
namespace {

// Somebody else's job looks as if it were not there.
Result<Job*> jobOf(EventContext& context, const JobId& id, const Caller& caller) {
  Job* job = context.tables.jobs.find(id);
  if (job == nullptr || !maySteer(caller, job->record.user))
    return notFound("there is no job " + toString(id));
  return job;
}

void hold(EventContext& context, Job& job, const std::string& user) {
  if (!job.isHeldByUser()) context.tables.jobs.hold(job, "held by " + user);
}

// Lets go of what was held last: its user's hold, else the jobs that it is to start after, else its time.
void release(EventContext& context, Job& job) {
  const bool waitsForTasks = job.awaiting.count() > 0;
  if (job.isHeldByUser() && holdForOthers(context, job)) return;
  if (job.progress.heldForJobs || (!job.progress.held && waitsForTasks)) {
    forgetOthers(context, job);
    job.record.spec.after = {};
    context.out.put(job.record);
  } else if (!job.progress.held) {
    return;
  }
  const bool waitedForItsTime = job.progress.heldUntil != kNever;
  if (!waitedForItsTime && job.record.spec.startAfter > context.now.wall) {
    context.tables.jobs.holdUntilItsTime(job);
  } else {
    context.tables.jobs.release(job);
  }
}

void reprioritise(EventContext& context, Job& job, uint8_t priority) {
  Tables& tables = context.tables;
  if (job.record.spec.priority == priority) return;
  tables.jobs.setPriority(job, priority);
  context.out.put(job.record);
  renewReservation(context, job);
}

Error mayNot(const Job& job, const std::string& why) {
  return {ErrorCode::kConflict, "job " + std::to_string(job.record.number) + " " + why};
}

// Its tasks that are not done are queued once more, with all their attempts.
Status rerun(EventContext& context, Job& job) {
  Tables& tables = context.tables;
  const RunState state = job.progress.state;
  if (!isFinal(state)) return mayNot(job, "is not over; cancel it first, or wait for its end");
  if (state == RunState::kDone) return mayNot(job, "is done; submit it again to have it run once more");
  if (!job.record.spec.measures.empty()) return mayNot(job, "measures an application; submit that again");
  if (job.record.hasFiles && !job.progress.keepsFiles)
    return mayNot(job, "shipped files that are not kept any more; submit it again");
  std::string problem = tooMany(tables, job.record);
  if (problem.empty()) problem = tooManyOfAccount(tables, job.record);
  if (problem.empty()) problem = tooManyFiles(tables, job.record.user, job.record.fileBytes);
  if (problem.empty()) problem = whyNoNewJobs(tables);
  if (!problem.empty()) return Error{ErrorCode::kExhausted, std::move(problem)};
  if (std::string unmet = whyNotNow(tables, job.record.spec.after); !unmet.empty()) return mayNot(job, unmet);
  Agent* owner = tables.agents.leastLoaded();
  if (owner == nullptr) return Error{ErrorCode::kUnavailable, "no agent is attached; try again later"};
  tables.jobs.reopen(job, owner->record.name);
  owner->jobs.insert(job.record.id);
  if (job.record.spec.hold) {
    hold(context, job, job.record.user);
  } else if (job.record.spec.startAfter > context.now.wall) {
    tables.jobs.holdUntilItsTime(job);
  }
  awaitOthers(context, job);
  if (!job.isHeldByUser()) holdForOthers(context, job);
  for (const JobId& waiter : tables.dependencies.waitersFor(job.record.id))
    tables.dependencies.noteDue(waiter);
  noteFollower(context, job);
  return {};
}

}  // namespace

Status cancel(EventContext& context, const CancelRequested& event) {
  const Result<Job*> job = jobOf(context, event.job, event.caller);
  if (!job.ok()) return job.error();
  if (!isFinal((*job)->progress.state)) cancelJob(context, **job, "cancelled by " + event.caller.user);
  return {};
}

Status steerJob(EventContext& context, const JobSteered& event) {
  const Result<Job*> found = jobOf(context, event.job, event.caller);
  if (!found.ok()) return found.error();
  Job& job = **found;
  if (event.change == JobChange::kPriority && event.priority > kMaxPriority) {
    return invalid("priority: " + std::to_string(event.priority) + " is not in 0 to " +
                   std::to_string(kMaxPriority));
  }
  if (event.change == JobChange::kPriority && event.caller.role != Role::kOperate) {
    JobRecord record = job.record;
    record.spec.priority = event.priority;
    if (std::string problem = whyNotByAccount(context.tables, record); !problem.empty())
      return invalid(std::move(problem));
  }
  if (event.change == JobChange::kRerun) return rerun(context, job);
  if (isFinal(job.progress.state) || job.progress.cancelRequested) return {};
  switch (event.change) {
    case JobChange::kHold:
      hold(context, job, event.caller.user);
      break;
    case JobChange::kRelease:
      release(context, job);
      break;
    case JobChange::kPriority:
      reprioritise(context, job, event.priority);
      break;
    case JobChange::kRerun:
      break;
  }
  return {};
}

}  // namespace tarcil::master
