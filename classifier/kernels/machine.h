// What kernels have to know of the machine: its cores, and how large what they contend for is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tarcil {

struct Machine {
  std::string processor;          // for people; empty: the machine does not say
  std::vector<int> cores;         // that this process may use, in rising order
  std::vector<int> firstThreads;  // of them, one of each physical core
  // Bytes of one core's caches, and of the last-level cache that all cores share; 0: the machine does
  // not say.
  uint64_t l1iBytes = 0;
  uint64_t l1dBytes = 0;
  uint64_t l2Bytes = 0;
  uint64_t llcBytes = 0;
  uint64_t tlbEntries =
      0;  // of the largest TLB of a core; typical of servers where the processor does not say
  uint64_t memoryBytes = 0;  // that this process can have at most: of the machine, or by its cgroups

  // Two hardware threads share a core: what is private to a core can then be contended for.
  bool hasSiblings() const { return firstThreads.size() < cores.size(); }
};

// Reads it from `sys` and `proc` (elsewhere in tests). Cores are those that the calling thread may run on.
// Files that are missing or odd leave what they would say at 0; never fails.
Machine readMachine(const std::string& sys = "/sys", const std::string& proc = "/proc");

// The other hardware threads of this one's core, by `sys`; empty where there are none.
std::vector<int> siblingsOf(int core, const std::string& sys = "/sys");

// "0-1,4" as numbers, of at most 4,096; empty where it is no such list.
std::vector<int> coresIn(const std::string& list);

// "2048K" as bytes; 0 where it is no size.
uint64_t bytesIn(const std::string& size);

}  // namespace tarcil
