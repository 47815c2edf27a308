// What the master says of its queue: which jobs are offered, whether others come first, and which
// servers are reserved.
#pragma once

#include <span>

#include "agent/logic/tables.h"

namespace tarcil::agent {

// Marks the jobs to be tried, in this order. Declines unknown ones.
void takeOffers(EventContext& context, const JobsOffered& event);

// The queue has changed; deferred jobs may be tried now.
void takeQueue(EventContext& context, const QueueTold& event);

// Whether such a job, unless it is offered, has to wait for others that are to be tried first.
bool isBehindOthers(const Tables& tables, const JobSpec& spec);

// Servers, ascending, that such a job may not use unless it is offered. Valid until the next takeQueue().
std::span<const ServerId> reservedForOthers(const Tables& tables, const JobSpec& spec);

// The job is to be tried: at once if no others come first, else after them or when it is offered.
void markToTryWhenFree(Tables& tables, Job& job);

}  // namespace tarcil::agent
