#include "monitor/pressure/meter.h"

namespace tarcil {

ServerPressure unmeasured(std::string server, const std::string& reason) {
  ServerPressure pressure{std::move(server), {}, {}};
  for (int i = 0; i < kResources; ++i) pressure.absent.push_back({static_cast<Resource>(i), reason});
  return pressure;
}

PressureMeter::PressureMeter(std::string server, const PressureOptions& options, const MachinePaths& paths,
                             const std::set<uint32_t>& cores, const CgroupDirectories& tasks,
                             const CacheMonitor* cache)
    : reader_(options, paths, cores, tasks, cache), background_(std::move(server), options.background) {}

std::optional<ServerPressure> PressureMeter::measure(MonotonicTime now) {
  PressureReading reading = reader_.read(now);
  std::optional<ServerPressure> message;
  if (before_) {
    message = background_.take(backgroundBetween(*before_, reading, reader_.capacities()), now);
    noteSignals(*before_, reading);
  }
  before_ = std::move(reading);
  return message;
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
