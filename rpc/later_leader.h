// What keeps agents and monitors linked to the master that leads (docs/masters.md "How peers find it").
#pragma once

#include <string>

#include "rpc/highest_term.h"
#include "rpc/link.h"

namespace tarcil {

// For keepLinked: a master says that one leads in a later term than any that was heard of, which then is one;
// or, while none is attached to, that it leads itself. Of an earlier version it says nothing. `token` as for
// its login. `highest` outlives it and its promises.
Changed laterLeader(Net net, std::string token, HighestTerm& highest);

}  // namespace tarcil
