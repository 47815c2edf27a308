// The units that late-bound tasks run on: leased to monitors as long as no committed job waits for them
// (docs/late-binding.md; latebinding/pool_lease.h).
#pragma once

#include "master/logic/tables.h"

namespace tarcil::master {

// Grants and takes back units as a monitor's reports say; refuses those of a session that is not current. A
// server that takes no new tasks, or that is reserved for a job, lends no more units; one whose pool is
// limited none beyond what its operator set apart.
void takePoolReports(EventContext& context, const PoolReported& event);

// Pressure that the late-bound tasks of servers cause counts like that of their residents.
void takePoolPressures(EventContext& context, const PressureReported& event);

// A server came up with the facts that it has now: units that an earlier start or another machine held are
// free where it takes no late-bound tasks any more, or where nobody knows what became of them. The pressure
// of those it still has is reported after this. Sends the limit that holds.
void takePoolUp(EventContext& context, Server& server, bool takenOver);

// Limits the pools of servers to what operators set apart while waiting jobs need their units: of the servers
// that are feasible for one of the first jobs of the queue, where they have too few free slots for it, and of
// reserved servers. Decided every half second while jobs wait. Monitors are told of each change, and give
// back what is beyond the limit as tasks end.
void limitPools(EventContext& context);

}  // namespace tarcil::master
