#include "agent/logic/held_job.h"

#include <algorithm>

namespace tarcil::agent {

HeldJob HeldJob::submitted(JobRecord record) {
  HeldJob job(std::move(record));
  for (TaskIndex index = 0; index < job.record_.spec.tasks; ++index) {
    job.tasks_.emplace_hint(job.tasks_.end(), index, HeldTask{});
    job.ready_.emplace_hint(job.ready_.end(), index);
  }
  return job;
}

void HeldJob::follow(const JobSpec& spec) {
  record_.spec.priority = spec.priority;
  record_.spec.profile = spec.profile;
  record_.spec.container.imageDigest = spec.container.imageDigest;
}

void HeldJob::assign(const TaskAssignment& news, MonotonicTime now) {
  forget(news.index);
  if (isFinal(news.state)) return;
  HeldTask task{.attempt = news.attempt,
                .state = news.state,
                .notBefore = now + news.delay,
                .allocation = news.allocation,
                .server = news.server,
                .rus = news.rus,
                .extras = news.extras};
  list(news.index, task, now);
  tasks_[news.index] = std::move(task);
}

std::vector<AllocationId> HeldJob::keepListed(const JobAssignment& assignment) {
  std::set<TaskIndex> keep;
  forEachWaiting(assignment, [&keep](TaskIndex task) { keep.insert(keep.end(), task); });
  for (const TaskAssignment& task : assignment.tasks) keep.insert(task.index);
  std::vector<TaskIndex> ended;
  std::vector<AllocationId> allocations;
  for (const auto& [index, task] : tasks_) {
    if (keep.contains(index)) continue;
    ended.push_back(index);
    if (task.state != RunState::kQueued) allocations.push_back(task.allocation);
  }
  for (TaskIndex index : ended) forget(index);
  return allocations;
}

void HeldJob::grant(TaskIndex index, ServerId server, const Grant& grant) {
  HeldTask& task = tasks_.at(index);
  unlist(index, task);
  task.state = RunState::kStarting;
  task.allocation = grant.allocation;
  task.server = server;
  task.rus = grant.rus;
  task.extras = grant.extras;
  active_.insert(index);
}

void HeldJob::forget(TaskIndex index) {
  auto found = tasks_.find(index);
  if (found == tasks_.end()) return;
  unlist(index, found->second);
  tasks_.erase(found);
}

const HeldTask* HeldJob::find(TaskIndex index) const {
  auto found = tasks_.find(index);
  return found == tasks_.end() ? nullptr : &found->second;
}

void HeldJob::endDelays(MonotonicTime now) {
  while (!delayed_.empty() && delayed_.begin()->first <= now) {
    ready_.insert(delayed_.begin()->second);
    delayed_.erase(delayed_.begin());
  }
}

std::optional<MonotonicTime> HeldJob::nextDelayEnd() const {
  if (delayed_.empty()) return std::nullopt;
  return delayed_.begin()->first;
}

size_t HeldJob::placeable() const {
  size_t most = record_.spec.mostAtOnce();
  return most <= active_.size() ? 0 : std::min(ready_.size(), most - active_.size());
}

std::vector<PlacementRequest::Task> HeldJob::firstPlaceable(size_t count) const {
  std::vector<PlacementRequest::Task> first;
  first.reserve(count);
  for (auto index = ready_.begin(); first.size() < count; ++index) {
    first.push_back({.index = *index, .attempt = tasks_.at(*index).attempt});
  }
  return first;
}

std::vector<PlacementRequest::Task> HeldJob::readyAndRequiring(size_t count) const {
  std::vector<PlacementRequest::Task> tasks;
  for (TaskIndex index : ready_) {
    const bool isRequiring = record_.spec.requirementOf(index) != nullptr;
    if (!isRequiring && count == 0) continue;
    if (!isRequiring) --count;
    tasks.push_back({.index = index, .attempt = tasks_.at(index).attempt});
  }
  return tasks;
}

std::vector<ServerId> HeldJob::placedOn() const {
  std::vector<ServerId> servers;
  servers.reserve(active_.size());
  for (TaskIndex index : active_) servers.push_back(tasks_.at(index).server);
  return servers;
}

void HeldJob::unlist(TaskIndex index, const HeldTask& task) {
  ready_.erase(index);
  delayed_.erase({task.notBefore, index});
  active_.erase(index);
}

void HeldJob::list(TaskIndex index, const HeldTask& task, MonotonicTime now) {
  if (task.state != RunState::kQueued) {
    active_.insert(index);
  } else if (task.notBefore > now) {
    delayed_.insert({task.notBefore, index});
  } else {
    ready_.insert(index);
  }
}

}  // namespace tarcil::agent
