// Reads the counters of a cgroup, with all below it, from the hierarchies of either version.
#pragma once

#include <string>
#include <vector>

#include "monitor/logic/pressure/counters.h"
#include "monitor/pressure/kept_file.h"

namespace tarcil {

// Directories of one cgroup; empty: it has none there.
struct CgroupDirectories {
  std::string cpuacct, memory, blkio;  // of version 1
  std::string unified;                 // of version 2

  // The file of its threads.
  std::string threadsFile() const {
    return unified.empty() ? memory + "/tasks" : unified + "/cgroup.threads";
  }
};

// Each counter comes from the one version whose hierarchy has it. CPU time is in version 2's cpu.stat without
// any controller.
class CgroupReader final {
 public:
  // `disks`: "<major>:<minor>" of those whose traffic counts. The blkio controller of newer kernels counts
  // nothing on a disk before a limit is set there or above, so one is set that limits nothing: not for a
  // cgroup below one for which that was done, whose `disks` are empty.
  CgroupReader(const CgroupDirectories& directories, const std::vector<std::string>& disks);

  // CPU time, memory and faults, and disks.
  void read(CgroupCounters& counters);

 private:
  enum class Version : uint8_t { kNone, kV1, kV2 };
  const Version cpu_, memory_, disks_;
  KeptFile cpuFile_, memoryUsed_, memoryStat_, diskFile_;
};

}  // namespace tarcil
