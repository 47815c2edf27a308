// Turns of waiting jobs: when they begin and end, and who is told.
#pragma once

#include "master/logic/tables.h"

namespace tarcil::master {

// Wakes the queue where something got better in this event, gives the next turns where none are out, and
// publishes what is pending. At the end of an event: what it published is to come first.
void offerJobs(EventContext& context);

// The agent passes; ignored where it does not own the job.
void endOffers(EventContext& context, const OffersDeclined& event);

// The job was tried on the newest state and got nothing: what can be done about that is done.
void noteFailedAttempt(EventContext& context, Job& job);

// An agent that does not answer holds nobody up for long: it may still try its jobs, but no longer before
// others, and none of them has another turn until it says something.
void endOverdueOffers(EventContext& context);

// The agent of this session has sent something.
void noteSignOfLife(EventContext& context, SessionId session);

}  // namespace tarcil::master
