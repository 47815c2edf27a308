// Servers reserved for a job that needs several units at once and has waited for too long: otherwise small
// jobs that take each unit as it comes free would starve it.
#pragma once

#include "master/logic/tables.h"

namespace tarcil::master {

// Reserves servers for the oldest such job that has waited past its bound: a gang, or a job whose tasks take
// several units and of which none runs. Ends the reservation where it waits no more. The servers are those
// that can provide the slots that it needs soonest (reserved_servers.h), chosen again from time to time. Jobs
// behind it in the queue do not use these servers, except where they are sure to time out before it is
// expected to start (backfill). It is expected to start when the tasks that run there have reached their
// timeouts; where they have none, nothing is backfilled.
//
// Each time that its bound passes again without more units having come free on them, or that it was tried
// without success although all of it fits, twice as much is reserved, in the end all that it could use:
// tasks that never end, or slots that are not good enough, may keep it from starting on a few servers, but
// not for ever.
//
// Nothing is reserved for a job that could not start even if nothing else were running, nor for one whose
// account holds the units that it may.
//
// Each time that its bound passes it is tried again, though no capacity appeared: the slots that it waits for
// may not come, and at its own bound it takes the best there is.
//
// The job holds nothing: units stay free until all of them are, and jobs that come before it in the queue may
// take them. There is one reservation at a time, so no two jobs can wait for each other. To be called before
// offers are made.
void updateReservation(EventContext& context);

// The job's place in the queue has changed: where it has the reservation, who may use its servers is decided
// again.
void renewReservation(EventContext& context, const Job& job);

// Whether the server is reserved for a job, in this way or for preemption.
bool isReserved(const Tables& tables, ServerId server);

// To be called when a job was tried and did not start. Where it has the reservation and twice the slots that
// it needs are free, something else keeps it from starting, and nothing is reserved for it for a while.
void doubtReservation(EventContext& context, Job& job);

// To be called when no task of the job could have been placed whatever is free: they wait for their restart
// delay, for instance. Nothing is reserved for it for a while.
void pauseReservation(EventContext& context, Job& job);

}  // namespace tarcil::master
