#include "master/logic/jobs/job_steering.h"

#include "master/logic/jobs/task_life.h"
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
  const bool isForGood = job.progress.held && job.progress.heldUntil == kNever;
  if (!isForGood) context.tables.jobs.hold(job, "held by " + user);
}

void release(EventContext& context, Job& job) {
  if (!job.progress.held) return;
  const bool isHeldByUser = job.progress.heldUntil == kNever;
  if (isHeldByUser && job.record.spec.startAfter > context.now.wall) {
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

}  // namespace

Status cancel(EventContext& context, const CancelRequested& event) {
  const Result<Job*> job = jobOf(context, event.job, event.caller);
  if (!job.ok()) return job.error();
  if (!isFinal((*job)->progress.state)) cancelJob(context, **job, event.caller.user);
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
  }
  return {};
}

}  // namespace tarcil::master
