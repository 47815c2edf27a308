// Offers of waiting jobs to their agents: when they are made, and when they end.
#pragma once

#include "master/logic/tables.h"

namespace tarcil::master {

// Wakes the queue where capacity appeared in this event, makes the next offers where none are out, and
// publishes what is pending. To be called at the end of an event: what it published must reach agents first.
void offerJobs(EventContext& context);

// The agent declines; ignored where it does not own the job.
void endOffers(EventContext& context, const OffersDeclined& event);

// The job was tried on the newest state and got nothing: tries preemption and questions its reservation.
void noteFailedAttempt(EventContext& context, Job& job);

// An agent that does not answer does not delay others for long: it may still commit its jobs, but others no
// longer wait for it, and its jobs are not offered again until it sends something.
void endOverdueOffers(EventContext& context);

// The agent of this session has sent something.
void noteSignOfLife(EventContext& context, SessionId session);

}  // namespace tarcil::master
