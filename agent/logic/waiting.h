// Since when a job waits for slots, and how long it waits for good ones.
#pragma once

#include "agent/logic/tables.h"

namespace tarcil::agent {

// How long the job waits for a slot that is good enough: as set by the master, else by the job, else by the
// agent's options.
Duration waitBound(const Tables& tables, const Job& job);

// The master's bound: the job is to wait at most `rest` from now. Nothing if it does not wait.
void boundWait(EventContext& context, Job& job, Duration rest);

// The job got a slot or needs none. If tasks are left, a new wait begins for them.
void endWait(Job& job);

// Updates the job's wait, its offer, its timer and the job table. To be called after every change of the job,
// and after a commit for it was sent or answered.
void refresh(EventContext& context, Job& job);

}  // namespace tarcil::agent
