#include "agent/logic/offers.h"

#include <algorithm>
#include <iterator>

#include "agent/logic/waiting.h"

namespace tarcil::agent {

void takeOffers(EventContext& context, const JobsOffered& event) {
  Tables& tables = context.tables;
  for (const JobId& id : event.jobs) {
    Job* job = tables.jobs.find(id);
    if (job == nullptr) {
      context.untried.push_back(id);
      continue;
    }
    if (const auto bound = event.bounds.find(id); bound != event.bounds.end()) {
      boundWait(context, *job, bound->second);
    }
    job->isOffered = true;
    job->reservedForOthers.clear();
    if (const auto mayUse = event.usableReserved.find(id); mayUse != event.usableReserved.end()) {
      std::ranges::set_difference(tables.queueTold.reserved, mayUse->second,
                                  std::back_inserter(job->reservedForOthers));
    }
    tables.jobs.markToTry(*job);
    refresh(context, *job);
  }
}

void takeQueue(EventContext& context, const QueueTold& event) {
  Tables& tables = context.tables;
  tables.queueTold = event;
  for (Job* job : tables.jobs.takeDeferred()) {
    markToTryWhenFree(tables, *job);
    refresh(context, *job);
  }
}

bool isBehindOthers(const Tables& tables, const JobSpec& spec) {
  const std::optional<uint8_t>& pending = tables.queueTold.pendingPriority;
  return pending && spec.priority <= *pending;
}

std::span<const ServerId> reservedForOthers(const Tables& tables, const JobSpec& spec) {
  return isBehindOthers(tables, spec) ? tables.queueTold.reserved : std::span<const ServerId>();
}

void markToTryWhenFree(Tables& tables, Job& job) {
  if (isBehindOthers(tables, job.spec())) {
    tables.jobs.defer(job);
  } else {
    tables.jobs.markToTry(job);
  }
}

}  // namespace tarcil::agent
