// Reads the counters of a server as a whole, and what the machine says it can do.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "monitor/logic/pressure/counters.h"
#include "monitor/logic/pressure/formulas.h"
#include "monitor/pressure/kept_file.h"

namespace tarcil {

// Where the kernel's file systems are; tests name others.
struct MachinePaths {
  std::string proc = "/proc";
  std::string sys = "/sys";
};

// An interface to other machines.
struct NetworkInterface {
  std::string name;
  uint32_t index = 0;
  double bytesPerSecond = 0;  // in each direction; 0: it does not say
};

// Physical interfaces: bridges, tunnels and the like would count their bytes once more.
std::vector<NetworkInterface> physicalInterfaces(const std::string& sys);
// One by its name, physical or not, also in a network namespace of this process alone, which a sysfs that was
// mounted in another does not show; nullopt where there is none.
std::optional<NetworkInterface> interfaceNamed(const std::string& sys, const std::string& name);

// Physical disks, by name with "<major>:<minor>"; partitions and stacked devices would count their bytes
// once more.
std::map<std::string, std::string> physicalDisks(const std::string& sys);
// One by its name, physical or not: "<major>:<minor>"; nullopt where there is none.
std::optional<std::string> diskNamed(const std::string& sys, const std::string& name);

// Bytes of the last-level cache, all domains together; 0: the machine does not say.
uint64_t lastLevelCacheBytes(const std::string& sys);

class MachineReader final {
 public:
  // `cores`: those that tasks may use; empty: all. `disks`: as physicalDisks() gives them.
  MachineReader(const MachinePaths& paths, const std::set<uint32_t>& cores,
                const std::map<std::string, std::string>& disks,
                const std::vector<NetworkInterface>& interfaces);

  // Everything but hardware counters and resctrl.
  void read(MachineCounters& counters);

 private:
  const std::set<uint32_t> cores_;
  const std::map<std::string, std::string> disks_;
  const std::set<std::string> interfaces_;
  KeptFile stat_, meminfo_, vmstat_, diskstats_, netDev_, cpuStall_, memoryStall_, ioStall_;
};

}  // namespace tarcil
