// The master's state at its start, made from the contents of the store.
#pragma once

#include "core/base/rng.h"
#include "master/logic/tables.h"

namespace tarcil::master {

// Invalid where the unfinished jobs of the store are more than twice as many as the options allow, or take
// more than twice the memory: names the largest and says what to do. The bounds are for submissions, and may
// have been lowered since; what is far beyond them is not to take the master down at each start. A master
// that is read-only takes no more than what is there, and shows any store.
Status requireRoom(const MasterOptions& options, const StoreContents& contents);

// From the records alone; `zones` is for the schedules of crons, and outlives the tables. Every server is
// down and every agent away, each with its full timeout from now: the master's own absence does not count
// against them.
Tables tablesFrom(const MasterOptions& options, StoreContents contents, Now now,
                  const TimeZones& zones = utcOnly());

// Derives what follows from the records: units in use, owners of jobs. Puts what a new store needs, and moves
// the counter of allocations past all that may have been used. Requires: tables just made by tablesFrom().
void start(EventContext& context, Rng& rng);

}  // namespace tarcil::master
