// Measures a server again and again, and passes on what comes of it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "env/alarm.h"
#include "env/clock.h"
#include "monitor/container/container_executor.h"
#include "monitor/pressure/meter.h"
#include "monitor/server/monitor_server.h"
#include "rpc/link.h"

namespace tarcil {

// Lives on the event loop's thread; the references outlive it. Begins at once; with period 0 only says
// that nothing is measured.
class PressureLoop final {
 public:
  PressureLoop(kj::Timer& timer, const Clock& clock, MonitorServer& server, std::string name,
               const PressureOptions& options, const std::set<uint32_t>& cores,
               const ContainerExecutor& executor, const CacheMonitor& cache);

 private:
  void measure();
  void measureOnce(MonotonicTime begin);
  void logOnce(const ServerPressure& pressure);

  const Clock& clock_;
  MonitorServer& server_;
  const ContainerExecutor& executor_;
  const Duration period_;
  std::optional<PressureMeter> meter_;                 // where something is measured
  std::set<std::pair<Resource, std::string>> logged_;  // absent, and why
  Outage failing_;                                     // of the measuring
  Alarm alarm_;
};

}  // namespace tarcil
