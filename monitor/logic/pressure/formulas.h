// From counters to pressure: one formula for each of the ten resources (docs/monitor.md gives them with their
// reasons). Pure.
//
// Each takes two readings, one period apart, and gives the pressure in [0, 99] that the managed tasks do not
// explain: what the whole server used, less what the tasks' cgroups used, as a share of what there is. A
// counter that went back counts as one that stood still. What cannot be measured is an Error that says why.
#pragma once

#include <array>

#include "core/base/time.h"
#include "core/model/resources.h"
#include "monitor/logic/pressure/counters.h"

namespace tarcil {

// What a server can do where that cannot be read off its counters. 0: not known.
struct Capacities {
  double networkBytesPerSecond = 0;  // in each direction, of the measured interfaces together
  double memoryBytesPerSecond = 0;
  uint64_t llcBytes = 0;  // of all cache domains together
};

// One reading of a server and of the cgroup that holds all of its tasks.
struct PressureReading {
  MonotonicTime when{};
  MachineCounters machine;
  CgroupCounters tasks;
};

// The memory of a server that is part of a machine, and that nobody but its tasks may use: `bytes` of them.
Reading<MemoryUse> memoryOfPart(uint64_t bytes, const Reading<CgroupMemory>& tasks);

// Time of the cores that neither tasks use nor is idle; what the hypervisor takes counts as used.
Result<double> corePressure(const PressureReading& before, const PressureReading& after);

// Share of the time of all cores that is spent on refilling the cache, or on walks to fill the TLB: misses
// times a typical cost of one in cycles.
Result<double> l1iPressure(const PressureReading& before, const PressureReading& after);
Result<double> l1dPressure(const PressureReading& before, const PressureReading& after);
Result<double> l2Pressure(const PressureReading& before, const PressureReading& after);
Result<double> tlbPressure(const PressureReading& before, const PressureReading& after);

// Bytes of the cache that are occupied, of all its bytes.
Result<double> llcPressure(const PressureReading& after, const Capacities& capacities);

// Bytes to and from memory, of what there could be: by resctrl, else by misses of the last-level cache.
Result<double> memoryBandwidthPressure(const PressureReading& before, const PressureReading& after,
                                       const Capacities& capacities);

// Bytes that are neither available nor the tasks', of all.
Result<double> memoryCapacityPressure(const PressureReading& after);

// Of the disk where it is most: share of time in which the disk was busy, times the share of its bytes that
// are not the tasks'. What the kernel writes out on nobody's account is the tasks' as far as the dirty
// pages are.
Result<double> diskPressure(const PressureReading& before, const PressureReading& after);

// Bytes of the busier direction, of what there could be.
Result<double> networkPressure(const PressureReading& before, const PressureReading& after,
                               const Capacities& capacities);

using MeasuredPressure = std::array<Result<double>, kResources>;

// All of them, in the order of the resources.
MeasuredPressure backgroundBetween(const PressureReading& before, const PressureReading& after,
                                   const Capacities& capacities);

// Share of the time, in [0, 1], in which some of those who wanted to run could not.
Result<double> stallShare(const Reading<StallTimes>& before, const Reading<StallTimes>& after,
                          Duration between);

// How often per second one of these happened.
Result<double> countsPerSecond(const Reading<PagingCounts>& before, const Reading<PagingCounts>& after,
                               uint64_t PagingCounts::*counter, Duration between);

}  // namespace tarcil
