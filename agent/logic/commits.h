// Plans jobs and sends the commits that follow: claims of slots, new jobs, and reasons why jobs wait.
#pragma once

#include "agent/logic/tables.h"

namespace tarcil::agent {

// Whether a job waits to be tried, and the master has not too many commits to answer already.
bool mayTry(const Tables& tables);

// Plans the jobs that are to be tried, a bounded number per event. Requires: isReady().
void planWaiting(EventContext& context);

// Chooses slots for the job's placeable tasks, and sends a commit if there are claims or news for the master.
// Requires: isReady(), none of its commits in flight.
void plan(EventContext& context, Job& job);

// Sends a new job to the master without choosing slots: others are tried first, or it is on hold.
void submitUntried(EventContext& context, Job& job);

// Reports to the master why the job waits, if the kind of reason has changed: at once, or when
// kReasonInterval has passed since the last report. Requires: none of its commits in flight.
void noteReason(EventContext& context, Job& job, WaitReason reason, Explanation explanation);
// Reports the pending reason, unless the last report is too recent. Requires: a reason is pending, none of
// its commits in flight.
void reportReason(EventContext& context, Job& job);

}  // namespace tarcil::agent
