// The units that late-bound tasks run on: leased to monitors as long as no committed job waits for them
// (docs/late-binding.md; latebinding/pool_lease.h).
#pragma once

#include "master/logic/tables.h"

namespace tarcil::master {

// Grants and takes back what a monitor's reports say; refuses those of a session that is not current. A
// server that takes no new tasks, or that is kept for a job, gives no more units; one whose pool is limited
// none beyond what its operator set apart.
void takePoolReports(EventContext& context, const PoolReported& event);

// What the late-bound tasks of servers cause counts like what their residents cause.
void takePoolPressures(EventContext& context, const PressureReported& event);

// A server came up as its monitor says it is now: whatever an earlier start or another machine held is free
// where it takes no late-bound tasks any more, or nobody knows what became of them. What those cause is told
// after this. Tells the limit that holds.
void takePoolUp(EventContext& context, Server& server, bool takenOver);

// Limits the pools of servers to what operators set apart while committed jobs wait for their units: of those
// that suit one of the first jobs of the queue, where they have too few free places for it, and of those that
// are kept free for a job that needs room. Looks every half second while jobs wait. Monitors are told of each
// change, and give back what is beyond the limit as its tasks end.
void limitPools(EventContext& context);

}  // namespace tarcil::master
