#include "monitor/pressure/meter.h"

namespace tarcil {
namespace {

std::vector<NetworkInterface> interfacesFor(const PressureOptions& options, const std::string& sys) {
  if (options.interfaces.empty()) return physicalInterfaces(sys);
  std::vector<NetworkInterface> interfaces;
  for (const std::string& name : options.interfaces) {
    if (auto interface = interfaceNamed(sys, name)) interfaces.push_back(std::move(*interface));
  }
  return interfaces;
}

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

}  // namespace

ServerPressure unmeasured(std::string server, const std::string& reason) {
  ServerPressure pressure{std::move(server), {}, {}};
  for (int i = 0; i < kResources; ++i) pressure.absent.push_back({static_cast<Resource>(i), reason});
  return pressure;
}

PressureMeter::PressureMeter(std::string server, const PressureOptions& options, const MachinePaths& paths,
                             const std::set<uint32_t>& cores, const CgroupDirectories& tasks)
    : capacities_(capacitiesFor(options, paths.sys)),
      machine_(paths, cores, physicalDisks(paths.sys), interfacesFor(options, paths.sys)),
      tasks_(tasks, numbersOf(physicalDisks(paths.sys))),
      traffic_(TrafficCounter::open(tasks.unified, indexesOf(interfacesFor(options, paths.sys)))),
      background_(std::move(server), options.background) {}

std::optional<ServerPressure> PressureMeter::measure(MonotonicTime now) {
  PressureReading reading = read(now);
  std::optional<ServerPressure> message;
  if (before_) {
    message = background_.take(backgroundBetween(*before_, reading, capacities_), now);
    noteSignals(*before_, reading);
  }
  before_ = std::move(reading);
  return message;
}

PressureReading PressureMeter::read(MonotonicTime now) {
  PressureReading reading;
  reading.when = now;
  machine_.read(reading.machine);
  tasks_.read(reading.tasks);
  reading.machine.hardware = notFound("hardware counters (perf) are not read yet");
  reading.machine.cache = notFound("resctrl is not read yet");
  reading.tasks.network = traffic_.ok() ? traffic_->read() : Reading<TransferBytes>(traffic_.error());
  return reading;
}

void PressureMeter::noteSignals(const PressureReading& before, const PressureReading& after) {
  const Duration between = after.when - before.when;
  const MachineCounters &m0 = before.machine, &m1 = after.machine;
  signals_.stalls = {stallShare(m0.cpuStall, m1.cpuStall, between),
                     stallShare(m0.memoryStall, m1.memoryStall, between),
                     stallShare(m0.ioStall, m1.ioStall, between)};
  signals_.majorFaultsPerSecond = countsPerSecond(m0.paging, m1.paging, &PagingCounts::majorFaults, between);
  signals_.swappedPagesPerSecond = countsPerSecond(m0.paging, m1.paging, &PagingCounts::swapped, between);
}

}  // namespace tarcil
