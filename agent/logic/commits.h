// Plans jobs and sends what comes of it: commits that claim slots, that submit a job, or that only say why it
// waits.
#pragma once

#include "agent/logic/tables.h"

namespace tarcil::agent {

// Plans the jobs that are to be tried, so many per event.
void planWaiting(EventContext& context);

// Chooses slots for the job's placeable tasks and sends what follows. Requires: isReady(), none of its
// commits in flight.
void plan(EventContext& context, Job& job);

// Sends a new job to the master without looking for slots: others are tried first, or it is on hold.
void submitUntried(EventContext& context, Job& job);

// Tells the master why the job waits, if that is news: now, or as soon as the last word is old enough.
void noteReason(EventContext& context, Job& job, WaitReason reason, Explanation explanation);
// Tells it what is pending, unless the last word is too fresh. Requires: a reason is pending, none of its
// commits in flight.
void reportReason(EventContext& context, Job& job);

}  // namespace tarcil::agent
