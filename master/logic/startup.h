// What the master knows when it starts: the store's contents, brought to life.
#pragma once

#include "core/base/rng.h"
#include "master/logic/tables.h"

namespace tarcil::master {

// The records alone. Every server is down and every agent away, each with its full grace from now: the
// master's own absence is not held against them.
Tables tablesFrom(const MasterOptions& options, StoreContents contents, Now now);

// What follows from the records: units in use, who owns what. Puts what a new store needs, and moves the
// counter of allocations past all that may have been given out. Requires: tables just made by tablesFrom().
void start(EventContext& context, Rng& rng);

}  // namespace tarcil::master
