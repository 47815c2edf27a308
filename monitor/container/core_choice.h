// Which cores a task gets. Pure.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "core/base/ids.h"
#include "monitor/container/cpu_topology.h"

namespace tarcil {

// Threads of as many units as `rus` has, ascending: of one NUMA node where one has enough free ones, and then
// of the node where that leaves least over; else of as few nodes as it takes. `taken` are the threads of
// other tasks. A task that has some already, `own`, keeps them as far as it may, and gets more beside them
// where it can.
//
// The master counts units and does not care which. Where too few are free, because a predecessor divided the
// machine otherwise, it is fixedCores().
std::vector<uint32_t> chooseCores(const std::vector<CoreUnit>& units, const std::set<uint32_t>& taken,
                                  const std::set<uint32_t>& own, const std::vector<RuIndex>& rus);

// Unit i is units[i % units.size()], whatever others have: where there are more units than threads, each
// thread comes to as many tasks as any other once all units are taken.
std::vector<uint32_t> fixedCores(const std::vector<CoreUnit>& units, const std::vector<RuIndex>& rus);

}  // namespace tarcil
