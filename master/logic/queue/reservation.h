// Room for jobs that need several units at once and have waited for too long: small jobs that take
// each unit as it comes free would keep them from ever starting.
#pragma once

#include "master/logic/tables.h"

namespace tarcil::master {

// Keeps servers free for the oldest such job that has waited past its bound, a gang or one whose tasks take
// several units and of which none runs. Lets go where it waits no more. The servers are those that can give
// it the slots that it needs to start soonest (reserved_servers.h), chosen anew from time to time. Jobs
// behind it in the queue's order leave these servers alone, but for those whose timeout ends before it is
// expected to start (backfill). It is expected when the tasks that run there will have ended by their
// timeouts; where those do not tell, nothing passes it.
//
// Each time that its bound passes once more with nothing more come free on them, or that it was tried in vain
// with room there for all of it, twice as much is kept, in the end all that it could use: tasks that never
// end, or places that are not good enough, keep it from starting on a few servers, but not for ever.
//
// No room is kept for a job that could not start were nothing else running, as things are.
//
// Each time that its bound passes it is tried again, though nothing got better: the place that it waits for
// may not come, and at its own bound it takes the best there is.
//
// The job holds nothing: units stay free until all of them are, and whatever comes before it in the order may
// take them. There is one such job at a time, so two cannot wait for each other. To be called before turns
// are given.
void updateReservation(EventContext& context);

// Whether the server is kept for a job, for this or for another reason.
bool isKept(const Tables& tables, ServerId server);

// To be called when a job was tried and did not start. Where room was kept for it and there was twice what it
// needs, something else keeps it from starting, and no room is kept for it for a while.
void doubtReservation(EventContext& context, Job& job);

// To be called when no task of the job could have been placed whatever there is: they wait for their restart
// delay, for instance. No room is kept for it for a while.
void pauseReservation(EventContext& context, Job& job);

}  // namespace tarcil::master
