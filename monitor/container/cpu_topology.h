// How a machine's hardware threads make up cores and NUMA nodes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tarcil {

// What one resource unit is: a core with all of its threads that tasks may use, or one thread of it.
struct CoreUnit {
  std::vector<uint32_t> threads;  // ascending, not empty; numbers as in cpuset files
  uint32_t node = 0;

  bool operator==(const CoreUnit&) const = default;
};

struct CpuTopology {
  std::vector<CoreUnit> cores;  // by node, then by their first thread
  uint32_t nodes = 1;           // that have one of the cores
  uint32_t threadsPerCore = 1;  // of the core that has most

  bool operator==(const CpuTopology&) const = default;
};

// Of these threads, by the files below `sys` ("/sys"). What cannot be read there counts as a core of its own
// on node 0.
CpuTopology cpuTopology(const std::string& sys, const std::vector<uint32_t>& threads);

// `rus` units of whole cores where there are as many; else of single threads, of which two that share a core
// are neighbours. 0: as many as there are cores. With more units than threads, unit i is the same as unit i
// modulo their number, and only those are returned.
std::vector<CoreUnit> coreUnits(const CpuTopology& topology, uint32_t rus);

// Numbers of a list such as "0-2,8"; none of a text that is no such list.
std::vector<uint32_t> parseCoreList(const std::string& text);

}  // namespace tarcil
