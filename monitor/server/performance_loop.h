// Looks after the performance of a server's tasks again and again, and passes on what comes of it.
#pragma once

#include "env/alarm.h"
#include "env/clock.h"
#include "monitor/container/container_executor.h"
#include "monitor/performance/task_meter.h"
#include "monitor/server/monitor_server.h"
#include "rpc/link.h"

namespace tarcil {

// Lives on the event loop's thread; the references outlive it. Begins at once. Where no task is watched, a
// period costs a look at the list of tasks.
class PerformanceLoop final {
 public:
  PerformanceLoop(kj::Timer& timer, const Clock& clock, MonitorServer& server, ContainerExecutor& executor,
                  CacheMonitor& cache, Duration period, const PressureOptions& options,
                  const std::vector<uint32_t>& cores);

 private:
  void measure();
  void measureOnce(const Now& begin);

  const Clock& clock_;
  MonitorServer& server_;
  ContainerExecutor& executor_;
  const Duration period_;
  TaskMeter meter_;
  size_t logged_ = 0;
  Outage failing_;  // of the measuring
  Alarm alarm_;
};

}  // namespace tarcil
