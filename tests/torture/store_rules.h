// What the final store must have after a history.
#pragma once

#include <cstdint>

#include "master/store/store_check.h"
#include "tests/torture/allocation_ledger.h"
#include "tests/torture/commit_ledger.h"
#include "tests/torture/state_ledger.h"

namespace tarcil::torture {

// What all three say of the same history.
struct Ledgers {
  const CommitLedger& commits;
  const AllocationLedger& allocations;
  const StateLedger& states;
  const std::set<JobId>& cancelled;  // answered as cancelled
  uint64_t keepFinished = 0;
};

// Problems: a grant, a job, a cancel, an end or an answer that is lost, units that two tasks hold, a task
// that nobody was granted, counters that went back or are not what was done, and last states that are not
// what the tasks make them.
void checkStoreAgainst(const Ledgers& ledgers, const WholeStore& store, Problems& problems);

}  // namespace tarcil::torture
