// Which waiting job could use what is free on a server: what is given to a task that runs must not pass the
// queue.
#pragma once

#include "master/logic/tables.h"

namespace tarcil::master {

// The first in the queue's order of the waiting jobs that suit the server, fit into its free units and
// extras, and do its tasks no harm; how well it would run there does not count, since one that has waited for
// long takes the best there is. Null where there is none among the first kMaxClaimants, or the server takes
// no new tasks. `without` counts as not waiting. O(jobs looked at).
const Job* nextEligibleJob(const Tables& tables, const Server& server, const Job* without = nullptr);

inline constexpr size_t kMaxClaimants = 512;

}  // namespace tarcil::master
