// Watches the tasks of one server: samples their metrics, and, while one of them falls short, reads what all
// tasks and the server are doing, to say why.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/time.h"
#include "monitor/logic/performance/watch.h"
#include "monitor/performance/metric_inbox.h"
#include "monitor/pressure/cache_monitor.h"
#include "monitor/pressure/running_task.h"
#include "monitor/pressure/server_reader.h"
#include "monitor/pressure/task_readers.h"

namespace tarcil {

class TaskMeter final {
 public:
  // `period`: between two measurements; a window is three of them at least. The others as for ServerReader;
  // `cache` outlives the meter.
  TaskMeter(Duration period, const PressureOptions& options, const MachinePaths& paths,
            const std::vector<uint32_t>& cores, const CgroupDirectories& tasks, CacheMonitor& cache);

  // Takes a sample of each watched one of these, which are all tasks that run now; what the master is to
  // hear. A task that is not watched is only read while another is degraded.
  std::vector<Violation> measure(const std::vector<RunningTask>& running, Now now);

  // PerformanceWatch::moved(), of them.
  std::vector<PerformanceSample> moved(Now now);

  // The usual performance of each watched task of which it is known, where it is measured by the metric that
  // its job asks for.
  std::map<AllocationId, double> usual() const;

  // Of the tasks; none while all is well.
  std::map<AllocationId, UseRates> useRates() const;

  struct Load {
    size_t watched = 0, isDegraded = 0;
    uint64_t dropped = 0;  // datagrams, since the start
  };
  Load load() const { return {watch_.watched(), watch_.isDegraded(), dropped_}; }

  // For the log, since the last call: metrics that cannot be had, and why; each once.
  std::vector<std::string> problems() { return std::exchange(problems_, {}); }

 private:
  struct Watched {
    PerformanceGoal goal;         // as it is measured: by CPU time where instructions are not counted
    std::vector<uint32_t> cores;  // that instructions are counted on
    TaskClock clock;
    bool isAsAsked = true;  // by the metric that its job asks for
    std::optional<HardwareCounters> instructions{};
    std::optional<double> before{};  // the counter, at `when`
    MonotonicTime when{};
    uint64_t dropped = 0;
    // Of its memory limit as it was looked at in the last minute, the oldest first.
    std::deque<std::pair<MonotonicTime, uint64_t>> kills{};
  };
  // What was read at one moment of the server and of every task.
  struct Look {
    PressureReading server;
    std::map<AllocationId, TaskReading> tasks;
  };

  void begin(const RunningTask& task);
  void countOnOtherCores(const RunningTask& task, Watched& watched);
  void endGone(const std::vector<RunningTask>& running);
  std::optional<double> sample(const RunningTask& task, Watched& watched, MonotonicTime now);
  std::optional<double> counterOf(Watched& watched);
  void lookAround(const std::vector<RunningTask>& running, MonotonicTime now);
  void noteKills(AllocationId task, const TaskReading& reading);
  std::optional<Scene> sceneOf(AllocationId task, const std::vector<RunningTask>& running) const;

  const Duration period_;
  const PressureOptions options_;
  const MachinePaths paths_;
  const std::vector<uint32_t> cores_;
  const CgroupDirectories tasksTogether_;
  CacheMonitor& cache_;

  PerformanceWatch watch_;
  std::map<AllocationId, Watched> watched_;
  uint64_t dropped_ = 0;
  std::vector<std::string> problems_;

  // While a task may be degraded.
  std::unique_ptr<ServerReader> serverReader_;
  TaskReaders readers_;
  std::optional<Look> earlier_, later_, latest_;
};

}  // namespace tarcil
