#include "agent/logic/timers.h"

#include "agent/logic/commits.h"
#include "agent/logic/offers.h"
#include "agent/logic/waiting.h"

namespace tarcil::agent {

void runTimers(EventContext& context) {
  Tables& tables = context.tables;
  const MonotonicTime now = context.now.steady;
  while (Job* job = tables.jobs.dueBy(now)) {
    const size_t before = job->held.placeable();
    job->held.endDelays(now);
    if (job->held.placeable() > before) markToTryWhenFree(tables, *job);
    if (job->waitingSince && !job->isOverdue && now >= *job->waitingSince + waitBound(tables, *job)) {
      job->isOverdue = true;
      markToTryWhenFree(tables, *job);
    }
    if (isReady(tables) && job->pendingReason && !tables.inFlight.has(job->id())) reportReason(context, *job);
    refresh(context, *job);
  }
}

void requestTimer(EventContext& context) {
  Tables& tables = context.tables;
  std::optional<MonotonicTime> next;
  const auto atLatest = [&next](std::optional<MonotonicTime> when) {
    if (when && (!next || *when < *next)) next = when;
  };
  atLatest(tables.jobs.nextDue());
  atLatest(tables.launches.nextRetry());
  atLatest(tables.unansweredUntil);
  const bool hasArrivals = !tables.arrivals.empty();
  if (isReady(tables)) {
    if (hasArrivals || mayTry(tables)) atLatest(context.now.steady);
  } else if (hasArrivals) {
    atLatest(tables.arrivals.front().deadline);
  }
  if (!next || (tables.wakeAt && *tables.wakeAt <= *next)) return;
  tables.wakeAt = next;
  context.actions.push_back(WakeAt{.when = *next});
}

}  // namespace tarcil::agent
