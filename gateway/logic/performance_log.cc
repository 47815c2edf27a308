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

void PerformanceLog::take(const Task& task, double part, WallTime now) {
  std::deque<Measure>& measures = measuresOf(task);
  if (!measures.empty() && measures.back().part == part) return;
  // The clock may have been set.
  const WallTime last = measures.empty() ? now : measures.back().at;
  measures.push_back({std::max(last, now), part});
  if (measures.size() > bounds_.measures) measures.pop_front();
}

std::map<TaskIndex, std::deque<Measure>> PerformanceLog::of(const JobId& job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? std::map<TaskIndex, std::deque<Measure>>() : found->second;
}

}  // namespace tarcil::gateway
