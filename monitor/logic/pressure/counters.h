// What is read of a server at one moment. Counters run from some start on: only differences mean something.
//
// What cannot be had is an Error: its message says why, for people. It is never zero.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "core/base/result.h"

namespace tarcil {

template <typename T>
using Reading = Result<T>;

// The reading of what nobody has looked for yet.
inline Error notRead() {
  return notFound("not read");
}

// Time of all the cores that tasks may use, together, in ticks of 10 ms.
struct CpuTimes {
  uint64_t busy = 0;   // user, nice, system and interrupts
  uint64_t idle = 0;   // and waiting for disks
  uint64_t steal = 0;  // taken by the hypervisor for others
  bool operator==(const CpuTimes&) const = default;
};

// Bytes, now.
struct MemoryUse {
  uint64_t total = 0;
  uint64_t available = 0;  // free, or to be had back at once
  uint64_t dirty = 0;      // waits to be written to disks, or is being written
  bool operator==(const MemoryUse&) const = default;
};

// Page faults that a disk had to answer, and pages that were swapped.
struct PagingCounts {
  uint64_t majorFaults = 0;
  uint64_t swapped = 0;
  bool operator==(const PagingCounts&) const = default;
};

// A block device by its major and minor number.
using Device = std::pair<uint32_t, uint32_t>;

struct TransferBytes {
  uint64_t in = 0;   // read, received
  uint64_t out = 0;  // written, sent
  bool operator==(const TransferBytes&) const = default;
};

struct DiskCounts {
  TransferBytes bytes;
  uint64_t busyMs = 0;  // at least one request was under way
  bool operator==(const DiskCounts&) const = default;
};

// Pressure stall information: microseconds in which some, or all, of those who wanted to run could not.
struct StallTimes {
  uint64_t some = 0;
  uint64_t full = 0;
  bool operator==(const StallTimes&) const = default;
};

// Of perf_event; of all cores, scaled up where the kernel took turns between more events than the hardware
// counts at once. nullopt: this processor does not count it.
struct HardwareCounts {
  std::optional<double> cycles;
  std::optional<double> instructions;
  std::optional<double> l1iMisses;
  std::optional<double> l1dMisses;
  std::optional<double> l2Misses;  // references to the last-level cache
  std::optional<double> llcMisses;
  std::optional<double> tlbMisses;  // of instructions and data, as far as both are counted
  bool operator==(const HardwareCounts&) const = default;
};

// Of resctrl, all cache domains together.
struct CacheUse {
  uint64_t occupied = 0;     // bytes of the last-level cache, now
  uint64_t transferred = 0;  // bytes between the last-level cache and memory
  bool operator==(const CacheUse&) const = default;
};

// Of a server as a whole.
struct MachineCounters {
  Reading<CpuTimes> cpu = notRead();
  Reading<MemoryUse> memory = notRead();
  Reading<PagingCounts> paging = notRead();
  Reading<std::map<Device, DiskCounts>> disks = notRead();  // physical ones
  Reading<TransferBytes> network = notRead();               // of the measured interfaces together
  Reading<StallTimes> cpuStall = notRead();
  Reading<StallTimes> memoryStall = notRead();
  Reading<StallTimes> ioStall = notRead();
  Reading<HardwareCounts> hardware = notRead();
  Reading<CacheUse> cache = notRead();
};

// Bytes, now.
struct CgroupMemory {
  uint64_t used = 0;
  uint64_t reclaimable = 0;  // of that, file pages that can be had back at once
  uint64_t dirty = 0;
  bool operator==(const CgroupMemory&) const = default;
};

// Page faults, and those of them that a disk had to answer.
struct FaultCounts {
  uint64_t all = 0;
  uint64_t major = 0;
  bool operator==(const FaultCounts&) const = default;
};

// Of a cgroup with all below it, also of what is gone.
struct CgroupCounters {
  Reading<uint64_t> cpuMicros = notRead();
  Reading<uint64_t> throttledMicros = notRead();  // held back by a quota of CPU time
  Reading<CgroupMemory> memory = notRead();
  Reading<FaultCounts> faults = notRead();
  Reading<std::map<Device, TransferBytes>> disks = notRead();
  Reading<TransferBytes> network = notRead();
  Reading<HardwareCounts> hardware = notRead();
  Reading<CacheUse> cache = notRead();
};

// How a cgroup's memory limit bears on it.
struct MemoryLimit {
  uint64_t bytes = 0;     // 0: none
  uint64_t hits = 0;      // how often it was reached
  uint64_t oomKills = 0;  // processes killed for it
  bool operator==(const MemoryLimit&) const = default;
};

// Of the cgroup of one task.
struct TaskCounters {
  CgroupCounters used;
  Reading<MemoryLimit> memoryLimit = notRead();
  // When some of the task's threads waited for a core, for memory to be made free, for a disk.
  Reading<StallTimes> cpuStall = notRead();
  Reading<StallTimes> memoryStall = notRead();
  Reading<StallTimes> ioStall = notRead();
};

}  // namespace tarcil
