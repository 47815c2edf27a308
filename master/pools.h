// The units that late-bound tasks run on: leased to monitors as long as no committed job waits for them
// (design: late binding; latebinding/pool_lease.h).
#pragma once

#include "master/tables.h"

namespace tarcil::master {

// Grants and takes back what a monitor's reports say; refuses those of a session that is not current. A
// server that takes no new tasks, or that is kept for a job, gives no more units; while committed jobs wait
// for units, none gives more than what its operator set apart.
void takePoolReports(Context& context, const PoolReported& event);

// What the late-bound tasks of servers cause counts like what their residents cause.
void takePoolPressures(Context& context, const PressureReported& event);

// A server came up as its monitor says it is now: whatever an earlier start or another machine held is free
// where it takes no late-bound tasks any more, or nobody knows what became of them. What those cause is told
// after this. Tells the limit that holds.
void takePoolUp(Context& context, Server& server, bool takenOver);

// Tells monitors to give units back where the first job of the queue has waited for some for a while, and
// that they may keep them where none does.
void limitPools(Context& context);

}  // namespace tarcil::master
