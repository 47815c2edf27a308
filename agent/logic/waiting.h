// Since when a job waits for slots, how long it may wait for good ones, and what follows from that.
#pragma once

#include "agent/logic/tables.h"

namespace tarcil::agent {

// How long the job waits for a slot that is good enough: as the master says, else the job, else the options.
Duration waitBound(const Tables& tables, const Job& job);

// The master says how much longer the job is to wait, at most. Nothing where it does not wait.
void boundWait(EventContext& context, Job& job, Duration rest);

// It got a slot or needs none: where tasks are left, their wait begins anew.
void endWait(Job& job);

// Brings its wait, its offer and the table's orders, timers and counts in line with the job. To be called
// after every change of it, and after a commit for it was sent or answered.
void refresh(EventContext& context, Job& job);

}  // namespace tarcil::agent
