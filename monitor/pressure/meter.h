// One measurement of a server after another: reads, concludes, and says what the master is to hear.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "monitor/pressure/background.h"
#include "monitor/pressure/cgroup_reader.h"
#include "monitor/pressure/machine_reader.h"
#include "monitor/pressure/traffic_counter.h"

namespace tarcil {

// Constant while the monitor runs.
struct PressureOptions {
  // Between two measurements; 0: nothing is measured.
  Duration period = std::chrono::seconds(1);
  BackgroundOptions background;
  // What interfaces and memory can do, in bytes per second; 0: what the machine says, if it does.
  double networkBytesPerSecond = 0;
  double memoryBytesPerSecond = 0;
  // Interfaces whose traffic counts; empty: the physical ones.
  std::vector<std::string> interfaces;
};

// What is told of a server that nothing is measured of.
ServerPressure unmeasured(std::string server, const std::string& reason);

class PressureMeter final {
 public:
  // `cores`: those that tasks may use. `tasks`: the cgroup that holds all of them; it outlives the meter.
  PressureMeter(std::string server, const PressureOptions& options, const MachinePaths& paths,
                const std::set<uint32_t>& cores, const CgroupDirectories& tasks);

  // Measures now; the message for the master where one is due. Nothing at the first call, since only
  // differences mean something. Takes some tenths of a millisecond, whatever the number of tasks.
  std::optional<ServerPressure> measure(MonotonicTime now);

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
  PressureReading read(MonotonicTime now);
  void noteSignals(const PressureReading& before, const PressureReading& after);

  Capacities capacities_;
  MachineReader machine_;
  CgroupReader tasks_;
  Result<TrafficCounter> traffic_;
  Background background_;
  std::optional<PressureReading> before_;
  Signals signals_;
};

}  // namespace tarcil
