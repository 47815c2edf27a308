// The store of a virtual cluster, and whoever follows what is in it: one for all of its masters.
#pragma once

#include "master/store/memory_store.h"
#include "sim/faults/master_ledger.h"
#include "sim/faults/store_checker.h"

namespace tarcil::sim {

struct CheckedStore {
  CheckedStore(VirtualWorld& world, TaskChecker& tasks) : checker(world, tasks) {}

  MemoryStore store;
  MasterLedger ledger;
  StoreChecker checker;
};

}  // namespace tarcil::sim
