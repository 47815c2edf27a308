#include "gateway/logic/performance_log.h"

#include <algorithm>

namespace tarcil::gateway {

std::deque<Measure>& PerformanceLog::measuresOf(const Task& task) {
  auto& tasks = jobs_[task.first];
  const auto [found, isNew] = tasks.try_emplace(task.second);
  if (!isNew) return found->second;
  inOrder_.push_back(task);
  if (inOrder_.size() > bounds_.tasks) {
    const auto [job, index] = inOrder_.front();
    const auto first = jobs_.find(job);
    first->second.erase(index);
    if (first->second.empty()) jobs_.erase(first);
    inOrder_.pop_front();
  }
  return found->second;
}

// What stays as it was is not said again.
void PerformanceLog::add(const Task& task, const Measure& measure) {
  std::deque<Measure>& measures = measuresOf(task);
  if (!measures.empty() && measures.back().part == measure.part) return;
  const WallTime last = measures.empty() ? measure.at : measures.back().at;
  measures.push_back({std::max(last, measure.at), measure.part});
  if (measures.size() > bounds_.measures) measures.pop_front();
}

void PerformanceLog::take(const std::string& server, const std::vector<Degraded>& degraded, WallTime now) {
  std::vector<Task> tasks;
  for (const Degraded& each : degraded) tasks.push_back(each.task);
  std::vector<Task>& before = degraded_[server];
  for (const Task& task : before) {
    if (std::ranges::find(tasks, task) == tasks.end()) add(task, {now, 1});
  }
  for (const Degraded& each : degraded) {
    const bool isNew = std::ranges::find(before, each.task) == before.end();
    add(each.task, {isNew ? std::min(each.since, now) : now, each.part});
  }
  before = std::move(tasks);
  if (before.empty()) degraded_.erase(server);
}

std::map<TaskIndex, std::deque<Measure>> PerformanceLog::of(const JobId& job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? std::map<TaskIndex, std::deque<Measure>>() : found->second;
}

}  // namespace tarcil::gateway
