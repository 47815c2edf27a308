// Which waiting job could use what is free on a server: units that a running task is given must not bypass
// the queue.
#pragma once

#include "master/logic/tables.h"

namespace tarcil::master {

// The first waiting job, in the order of the queue, for which the server is feasible, that fits into its free
// units and extras, and that breaks none of its tasks. How well it would run there does not count, since a
// job that has waited for long takes the best slot there is. Null where there is none among the first
// kMaxEligibleExamined, or where the server takes no new tasks. `without` is passed over. O(jobs examined).
const Job* nextEligibleJob(const Tables& tables, const Server& server, const Job* without = nullptr);

inline constexpr size_t kMaxEligibleExamined = 512;

}  // namespace tarcil::master
