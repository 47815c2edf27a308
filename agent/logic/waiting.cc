#include "agent/logic/waiting.h"

#include <algorithm>

namespace tarcil::agent {
namespace {

// When the job's timer is to fire.
std::optional<MonotonicTime> nextDue(const Tables& tables, const Job& job, bool isIdle) {
  std::optional<MonotonicTime> due = job.held.nextDelayEnd();
  const auto atLatest = [&due](MonotonicTime when) { due = due ? std::min(*due, when) : when; };
  if (isIdle && job.waitingSince && !job.isOverdue) atLatest(*job.waitingSince + waitBound(tables, job));
  if (isIdle && job.pendingReason && isReady(tables)) atLatest(job.nextReportAt());
  return due;
}

}  // namespace

Duration waitBound(const Tables& tables, const Job& job) {
  return job.masterBound.value_or(job.spec().maxWait.value_or(tables.options.waitBound));
}

void boundWait(EventContext& context, Job& job, Duration rest) {
  if (!job.waitingSince) return;
  const Duration bound = context.now.steady - *job.waitingSince + rest;
  job.masterBound = std::min(job.masterBound.value_or(bound), bound);
  job.isOverdue = context.now.steady >= *job.waitingSince + *job.masterBound;
}

void endWait(Job& job) {
  job.waitingSince.reset();
  job.masterBound.reset();
  job.isOverdue = false;
}

void refresh(EventContext& context, Job& job) {
  Tables& tables = context.tables;
  const bool canPlace = job.held.placeable() > 0;
  if (!canPlace) {
    endWait(job);
  } else if (!job.waitingSince) {
    job.waitingSince = context.now.steady;
  }
  const bool isIdle = job.durable && !tables.inFlight.has(job.id());
  if (isIdle && !canPlace) {
    tables.jobs.unmarkToTry(job);
    declineUntried(context, job);
  }
  tables.jobs.update(job, isIdle, nextDue(tables, job, isIdle));
}

}  // namespace tarcil::agent
