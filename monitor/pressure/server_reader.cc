#include "monitor/pressure/server_reader.h"

#include <numeric>
#include <thread>

#include "monitor/pressure/cache_monitor.h"

namespace tarcil {
namespace {

std::vector<uint32_t> indexesOf(const std::vector<NetworkInterface>& interfaces) {
  std::vector<uint32_t> indexes;
  for (const NetworkInterface& interface : interfaces) indexes.push_back(interface.index);
  return indexes;
}

std::vector<std::string> numbersOf(const std::map<std::string, std::string>& disks) {
  std::vector<std::string> numbers;
  for (const auto& [name, number] : disks) numbers.push_back(number);
  return numbers;
}

// Of all together; 0 where one does not say.
double speedOf(const std::vector<NetworkInterface>& interfaces) {
  double sum = 0;
  for (const NetworkInterface& interface : interfaces) {
    if (interface.bytesPerSecond <= 0) return 0;
    sum += interface.bytesPerSecond;
  }
  return sum;
}

Capacities capacitiesFor(const PressureOptions& options, const std::string& sys) {
  const double network = options.networkBytesPerSecond;
  return {network > 0 ? network : speedOf(interfacesFor(options, sys)), options.memoryBytesPerSecond,
          lastLevelCacheBytes(sys)};
}

// All of the machine where none are named.
std::vector<uint32_t> coresOrAll(const std::set<uint32_t>& cores) {
  if (!cores.empty()) return {cores.begin(), cores.end()};
  std::vector<uint32_t> all(std::thread::hardware_concurrency());
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

Result<HardwareCounters> countersOfTasks(const std::string& unified, const std::set<uint32_t>& cores) {
  if (unified.empty()) return notFound("hardware counters of tasks take cgroup v2");
  return HardwareCounters::open(linuxPerf(unified), coresOrAll(cores));
}

Reading<HardwareCounts> countsOf(Result<HardwareCounters>& counters) {
  if (!counters) return counters.error();
  return counters->read();
}

}  // namespace

std::vector<NetworkInterface> interfacesFor(const PressureOptions& options, const std::string& sys) {
  if (options.interfaces.empty()) return physicalInterfaces(sys);
  std::vector<NetworkInterface> interfaces;
  for (const std::string& name : options.interfaces) {
    if (auto interface = interfaceNamed(sys, name)) interfaces.push_back(std::move(*interface));
  }
  return interfaces;
}

std::map<std::string, std::string> disksFor(const PressureOptions& options, const std::string& sys) {
  if (options.disks.empty()) return physicalDisks(sys);
  std::map<std::string, std::string> disks;
  for (const std::string& name : options.disks) {
    if (auto number = diskNamed(sys, name)) disks.emplace(name, std::move(*number));
  }
  return disks;
}

ServerReader::ServerReader(const PressureOptions& options, const MachinePaths& paths,
                           const std::set<uint32_t>& cores, const CgroupDirectories& tasks,
                           const CacheMonitor* cache)
    : interfaces_(indexesOf(interfacesFor(options, paths.sys))),
      capacities_(capacitiesFor(options, paths.sys)),
      memoryBytes_(options.memoryBytes),
      machine_(paths, cores, disksFor(options, paths.sys), interfacesFor(options, paths.sys)),
      tasks_(tasks, numbersOf(disksFor(options, paths.sys))),
      traffic_(TrafficCounter::open(tasks.unified, interfaces_)),
      machineHardware_(HardwareCounters::open(linuxPerf(""), coresOrAll(cores))),
      tasksHardware_(countersOfTasks(tasks.unified, cores)),
      cache_(cache) {}

PressureReading ServerReader::read(MonotonicTime now) {
  PressureReading reading;
  reading.when = now;
  machine_.read(reading.machine);
  tasks_.read(reading.tasks);
  if (memoryBytes_ > 0) reading.machine.memory = memoryOfPart(memoryBytes_, reading.tasks.memory);
  reading.tasks.network = traffic_.ok() ? traffic_->read() : Reading<TransferBytes>(traffic_.error());
  reading.machine.hardware = countsOf(machineHardware_);
  reading.tasks.hardware = countsOf(tasksHardware_);
  if (cache_ == nullptr) {
    reading.machine.cache = reading.tasks.cache = notFound("resctrl is not read here");
  } else {
    reading.machine.cache = cache_->machine();
    reading.tasks.cache = cache_->tasks();
  }
  return reading;
}

}  // namespace tarcil
