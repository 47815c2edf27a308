// How much memory can still be had: of the machine, and of the cgroups that this process is in.
#pragma once

#include <cstdint>
#include <string>

namespace tarcil {

struct MemoryPaths {
  std::string proc = "/proc";
  std::string cgroups = "/sys/fs/cgroup";
};

// Bytes; 0 where the machine does not say. The page cache counts as to be had.
uint64_t memoryLeft(const MemoryPaths& paths = {});

// Bytes that this process can have at most: the machine's, or what the cgroups that it is in allow. 0 where
// the machine does not say.
uint64_t memoryInAll(const MemoryPaths& paths = {});

}  // namespace tarcil
