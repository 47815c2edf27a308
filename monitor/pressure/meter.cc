#include "monitor/pressure/meter.h"

#include "monitor/pressure/cache_monitor.h"

namespace tarcil {

ServerPressure unmeasured(std::string server, const std::string& reason) {
  ServerPressure pressure{std::move(server), {}, {}};
  for (int i = 0; i < kResources; ++i) pressure.absent.push_back({static_cast<Resource>(i), reason});
  return pressure;
}

PressureMeter::PressureMeter(std::string server, const PressureOptions& options, const MachinePaths& paths,
                             const std::set<uint32_t>& cores, const CgroupDirectories& tasks,
                             const CacheMonitor* cache)
    : reader_(options, paths, cores, tasks, cache),
      cache_(cache),
      background_(std::move(server), options.background),
      charges_(options.charges),
      readers_({cores.begin(), cores.end()}) {}

std::optional<ServerPressure> PressureMeter::measure(const std::vector<RunningTask>& running,
                                                     MonotonicTime now) {
  PressureReading reading = reader_.read(now);
  const auto caused = measureTasks(running, reading.machine, now);
  bool isDue = false;
  if (before_) {
    isDue = background_.take(backgroundBetween(*before_, reading, reader_.capacities()), now).has_value();
    isDue |= charges_.take(caused, now);
    noteSignals(*before_, reading);
  }
  before_ = std::move(reading);
  if (!isDue) return std::nullopt;
  ServerPressure message = background_.reported();
  message.tasks = charges_.reports();
  return message;
}

std::map<AllocationId, MeasuredPressure> PressureMeter::measureTasks(const std::vector<RunningTask>& running,
                                                                     const MachineCounters& machine,
                                                                     MonotonicTime now) {
  std::map<AllocationId, MeasuredPressure> caused;
  std::map<AllocationId, TaskReading> readings;
  readers_.closeAllBut(running);
  for (const RunningTask& task : running) {
    TaskReader* const reader = readers_.of(task, reader_.interfaces());
    if (reader == nullptr) continue;
    TaskReading reading = reader->read(TaskReader::What::kUse, now);
    if (cache_ != nullptr) reading.counters.used.cache = cache_->task(task.allocation);
    const auto before = tasksBefore_.find(task.allocation);
    if (before_ && before != tasksBefore_.end()) {
      caused.emplace(task.allocation,
                     taskPressure(before_->machine, machine, before->second, reading, reader_.capacities()));
    }
    readings.emplace(task.allocation, std::move(reading));
  }
  tasksBefore_ = std::move(readings);
  return caused;
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
