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

std::optional<KeptTasks::Task> KeptTasks::takeForAnother(const std::string& submitter) {
  if (tasks_.empty() || tasks_.size() < keep_.tasks) return std::nullopt;
  return takeOldestOfLargest(&Share::tasks, submitter, size_t{1});
}

// Among those who have as much it is the oldest of all.
template <typename Amount>
KeptTasks::Task KeptTasks::takeOldestOfLargest(Amount Share::*of, const std::string& submitter, Amount more) {
  const auto amountOf = [&](const std::string& name, const Share& share) {
    return share.*of + (name == submitter ? more : 0);
  };
  Amount most = 0;
  for (const auto& [name, share] : shares_) most = std::max(most, amountOf(name, share));
  return take(std::ranges::find_if(tasks_, [&](const Task& task) {
    return amountOf(task.submitter, shares_.at(task.submitter)) == most;
  }));
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
