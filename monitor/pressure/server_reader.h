// Reads all that is known of a server and of its tasks together, at one moment.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "monitor/logic/pressure/background.h"
#include "monitor/logic/pressure/formulas.h"
#include "monitor/logic/pressure/task_charges.h"
#include "monitor/pressure/cgroup_reader.h"
#include "monitor/pressure/hardware_counters.h"
#include "monitor/pressure/machine_reader.h"
#include "monitor/pressure/traffic_counter.h"

namespace tarcil {

class CacheMonitor;

// Constant while the monitor runs.
struct PressureOptions {
  // Between two measurements; 0: nothing is measured.
  Duration period = std::chrono::seconds(1);
  BackgroundOptions background;
  ChargeOptions charges;
  // What interfaces and memory can do, in bytes per second; 0: what the machine says, if it does.
  double networkBytesPerSecond = 0;
  double memoryBytesPerSecond = 0;
  // Interfaces and disks whose traffic counts; empty: the physical ones.
  std::vector<std::string> interfaces, disks;
  // That tasks together are kept to: what the server's memory is then. 0: the machine's memory.
  uint64_t memoryBytes = 0;
};

// The interfaces whose traffic counts, and the disks, by name with "<major>:<minor>".
std::vector<NetworkInterface> interfacesFor(const PressureOptions& options, const std::string& sys);
std::map<std::string, std::string> disksFor(const PressureOptions& options, const std::string& sys);

class ServerReader final {
 public:
  // `cores`: those that tasks may use; empty: all. `tasks`: the cgroup that holds all of them; it outlives
  // the reader, as `cache` does, which may be null.
  ServerReader(const PressureOptions& options, const MachinePaths& paths, const std::set<uint32_t>& cores,
               const CgroupDirectories& tasks, const CacheMonitor* cache);

  // Takes some tenths of a millisecond, whatever the number of tasks.
  PressureReading read(MonotonicTime now);

  // What the server can do.
  const Capacities& capacities() const { return capacities_; }

  // Indexes of the interfaces whose packets count.
  const std::vector<uint32_t>& interfaces() const { return interfaces_; }

 private:
  const std::vector<uint32_t> interfaces_;
  const Capacities capacities_;
  const uint64_t memoryBytes_;
  MachineReader machine_;
  CgroupReader tasks_;
  Result<TrafficCounter> traffic_;
  Result<HardwareCounters> machineHardware_, tasksHardware_;
  const CacheMonitor* const cache_;
};

}  // namespace tarcil
