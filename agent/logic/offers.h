// The master's queue as this agent hears of it: which jobs are offered, which others come first, and which
// servers are reserved for those.
#pragma once

#include <span>

#include "agent/logic/tables.h"

namespace tarcil::agent {

// The jobs are to be tried, in this order. One that is not known here is declined.
void takeOffers(EventContext& context, const JobsOffered& event);

// What is known of the queue has changed; deferred jobs may be free to be tried.
void takeQueue(EventContext& context, const QueueTold& event);

// Whether the job, while it is not offered, comes behind others that are still to be tried.
bool isBehindOthers(const Tables& tables, const JobSpec& spec);

// Servers, ascending, that a job leaves alone while it is not offered. Holds until the next takeQueue().
std::span<const ServerId> reservedForOthers(const Tables& tables, const JobSpec& spec);

// The job is to be tried: at once where no others come before it, else when they have been tried or when it
// is offered.
void markToTryWhenFree(Tables& tables, Job& job);

}  // namespace tarcil::agent
