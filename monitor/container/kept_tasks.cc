#include "monitor/container/kept_tasks.h"

#include <algorithm>
#include <utility>

namespace tarcil {

void KeptTasks::add(Task task) {
  Share& share = shares_[task.submitter];
  ++share.tasks;
  share.bytes += task.bytes;
  bytes_ += task.bytes;
  tasks_.push_back(std::move(task));
}

std::optional<KeptTasks::Task> KeptTasks::takeExcess(WallTime now) {
  if (tasks_.empty()) return std::nullopt;
  if (now - tasks_.front().since > keep_.age) return take(tasks_.begin());
  if (tasks_.size() > keep_.tasks) return takeOldestOfLargest(&Share::tasks);
  if (bytes_ > keep_.bytes) return takeOldestOfLargest(&Share::bytes);
  return std::nullopt;
}

std::optional<KeptTasks::Task> KeptTasks::takeForAnother() {
  if (tasks_.empty() || tasks_.size() < keep_.tasks) return std::nullopt;
  return takeOldestOfLargest(&Share::tasks);
}

template <typename Amount>
KeptTasks::Task KeptTasks::takeOldestOfLargest(Amount Share::*of) {
  const auto largest = std::max_element(shares_.begin(), shares_.end(), [of](const auto& a, const auto& b) {
    return a.second.*of < b.second.*of;
  });
  return take(std::ranges::find(tasks_, largest->first, &Task::submitter));
}

KeptTasks::Task KeptTasks::take(std::deque<Task>::iterator task) {
  const auto share = shares_.find(task->submitter);
  share->second.bytes -= task->bytes;
  bytes_ -= task->bytes;
  if (--share->second.tasks == 0) shares_.erase(share);
  Task taken = std::move(*task);
  tasks_.erase(task);
  return taken;
}

}  // namespace tarcil
