// Room for gangs that have waited for too long (design 7): small jobs that take each unit as it comes free
// would keep a gang from ever starting.
#pragma once

#include "master/tables.h"

namespace tarcil::master {

// Keeps room for the oldest gang that has waited past its bound, and lets go where it waits no more. While
// room is kept, jobs behind the gang in the queue's order have their turn only where their timeout ends
// before the gang is expected to start (backfill). It is expected when the tasks that run will have ended by
// their timeouts as far as it needs; where those do not tell, nothing passes it.
//
// No room is kept for a gang that could not start were nothing else running, as things are.
//
// The gang holds nothing: units stay free until all of them are, and whatever comes before it in the order
// may take them. There is one gang at a time, so two cannot wait for each other. To be called before turns
// are given.
void updateReservation(Context& context);

// To be called when a gang was tried and did not start. Where there was room enough, something else keeps it
// from starting, and no room is kept for it for a while.
void doubtReservation(Context& context, Job& gang);

// When the gang could start at the latest, by the timeouts of what runs on servers that meet its constraints;
// kNever where they do not tell. O(allocations).
WallTime expectedStartOf(const Tables& tables, const Job& gang, WallTime now);

}  // namespace tarcil::master
