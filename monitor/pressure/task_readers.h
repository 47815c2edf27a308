// A reader for each task that runs, kept open from one measurement to the next: opening the files costs more
// than reading them.
#pragma once

#include <map>
#include <vector>

#include "monitor/pressure/running_task.h"
#include "monitor/pressure/task_reader.h"

namespace tarcil {

// Cores of the task for its hardware counters: of these where it is kept to none.
std::vector<uint32_t> coresForCounters(const RunningTask& task, const std::vector<uint32_t>& all);

class TaskReaders final {
 public:
  // `cores`: those that tasks may use.
  explicit TaskReaders(std::vector<uint32_t> cores) : cores_(std::move(cores)) {}

  // `interfaces`: as for TaskReader. Null where one more would take descriptors that the monitor's own work
  // needs: the task then counts by its profile.
  TaskReader* of(const RunningTask& task, const std::vector<uint32_t>& interfaces);
  // Those of tasks that are not among these.
  void closeAllBut(const std::vector<RunningTask>& running);
  void closeAll() { readers_.clear(); }

 private:
  struct Open {
    std::vector<uint32_t> cores;
    TaskReader reader;
  };
  const std::vector<uint32_t> cores_;
  std::map<AllocationId, Open> readers_;
};

}  // namespace tarcil
