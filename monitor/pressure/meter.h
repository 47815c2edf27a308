// One measurement of a server after another: reads, concludes, and says what the master is to hear.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "monitor/logic/pressure/background.h"
#include "monitor/logic/pressure/task_charges.h"
#include "monitor/pressure/server_reader.h"
#include "monitor/pressure/task_readers.h"

namespace tarcil {

// What is told of a server that nothing is measured of.
ServerPressure unmeasured(std::string server, const std::string& reason);

class PressureMeter final {
 public:
  // As for ServerReader.
  PressureMeter(std::string server, const PressureOptions& options, const MachinePaths& paths,
                const std::set<uint32_t>& cores, const CgroupDirectories& tasks,
                const CacheMonitor* cache = nullptr);

  // Measures now, with all tasks that run now; the message for the master where one is due. Nothing at the
  // first call, since only differences mean something. Takes some tenths of a millisecond, and some
  // hundredths for each task (bench/pressure_cost).
  std::optional<ServerPressure> measure(const std::vector<RunningTask>& running, MonotonicTime now);

  // What no task explains, smoothed, now; nullopt: absent.
  const std::array<std::optional<double>, kResources>& background() const { return background_.smoothed(); }

  // What the latest measurement says besides; an Error where it is absent.
  struct Signals {
    // Share of the time in which something waited for a core, for memory, for a disk.
    std::array<Result<double>, 3> stalls = {notRead(), notRead(), notRead()};
    Result<double> majorFaultsPerSecond = notRead();
    Result<double> swappedPagesPerSecond = notRead();
  };
  const Signals& signals() const { return signals_; }

 private:
  // What each task that was read before too has caused since.
  std::map<AllocationId, MeasuredPressure> measureTasks(const std::vector<RunningTask>& running,
                                                        const MachineCounters& machine, MonotonicTime now);
  void noteSignals(const PressureReading& before, const PressureReading& after);

  ServerReader reader_;
  const CacheMonitor* const cache_;
  Background background_;
  TaskCharges charges_;
  TaskReaders readers_;
  std::optional<PressureReading> before_;
  std::map<AllocationId, TaskReading> tasksBefore_;
  Signals signals_;
};

}  // namespace tarcil
