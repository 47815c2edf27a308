#include "monitor/logic/pressure/task_charges.h"

namespace tarcil {

bool TaskCharges::take(const std::map<AllocationId, MeasuredPressure>& measured, MonotonicTime now) {
  std::erase_if(tasks_, [&measured](const auto& task) { return !measured.contains(task.first); });
  bool isDue = false;
  for (const auto& [allocation, pressure] : measured) {
    Task& task =
        tasks_.try_emplace(allocation, Task{now, now, {}, ReportGate(options_.reports)}).first->second;
    smooth(task.smoothed, pressure, now - task.lastTaken, options_.smoothing);
    task.lastTaken = now;
    if (now - task.since < options_.enough || !task.gate.isDue(task.smoothed, now)) continue;
    task.gate.report(task.smoothed, now);
    TaskPressure report{allocation, rounded(task.smoothed)};
    for (size_t i = 0; i < kResources; ++i) report.measured[i] = task.smoothed[i].has_value();
    task.reported = report;
    isDue = true;
  }
  return isDue;
}

std::vector<TaskPressure> TaskCharges::reports() const {
  std::vector<TaskPressure> reports;
  for (const auto& [allocation, task] : tasks_) {
    if (task.reported) reports.push_back(*task.reported);
  }
  return reports;
}

}  // namespace tarcil
