#include "agent/logic/job_table.h"

namespace tarcil::agent {

Job* JobTable::find(const JobId& id) {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

Job& JobTable::add(HeldJob held) {
  const JobId id = held.record().id;
  return jobs_.emplace(id, std::move(held)).first->second;
}

void JobTable::erase(const JobId& id) {
  const auto found = jobs_.find(id);
  Job& job = found->second;
  unmarkToTry(job);
  if (job.waits_) --waiting_;
  if (job.due_) timers_.erase({*job.due_, id});
  countQueued(job, false);
  jobs_.erase(found);
}

void JobTable::markToTry(Job& job) {
  if (!std::exchange(job.isToTry_, true)) job.tryNumber_ = ++lastTryNumber_;
}

void JobTable::unmarkToTry(Job& job) {
  toTry_.erase({job.tryNumber_, job.id()});
  deferred_.erase(job.id());
  job.isToTry_ = false;
}

Job* JobTable::nextToTry() {
  return toTry_.empty() ? nullptr : &jobs_.at(toTry_.begin()->second);
}

std::vector<Job*> JobTable::takeDeferred() {
  std::vector<Job*> jobs;
  jobs.reserve(deferred_.size());
  for (const JobId& id : deferred_) jobs.push_back(&jobs_.at(id));
  deferred_.clear();
  return jobs;
}

void JobTable::update(Job& job, bool isIdle, std::optional<MonotonicTime> due) {
  if (isIdle && job.isToTry_) {
    toTry_.insert({job.tryNumber_, job.id()});
  } else {
    toTry_.erase({job.tryNumber_, job.id()});
  }
  if (job.due_) timers_.erase({*job.due_, job.id()});
  job.due_ = due;
  if (job.due_) timers_.insert({*job.due_, job.id()});
  const bool waits = isIdle && job.held.placeable() > 0;
  if (waits != job.waits_) waiting_ += waits ? 1 : -1;
  job.waits_ = waits;
  countQueued(job, job.held.hasQueued());
}

Job* JobTable::dueBy(MonotonicTime now) {
  if (timers_.empty() || timers_.begin()->first > now) return nullptr;
  return &jobs_.at(timers_.begin()->second);
}

std::optional<MonotonicTime> JobTable::nextDue() const {
  if (timers_.empty()) return std::nullopt;
  return timers_.begin()->first;
}

uint32_t JobTable::queuedOf(const std::string& user) const {
  const auto found = queuedOfUser_.find(user);
  return found == queuedOfUser_.end() ? 0 : found->second;
}

void JobTable::countQueued(Job& job, bool hasQueued) {
  if (job.hasQueued_ == hasQueued) return;
  job.hasQueued_ = hasQueued;
  uint32_t& jobs = queuedOfUser_[job.held.record().user];
  jobs += hasQueued ? 1 : -1;
  if (jobs == 0) queuedOfUser_.erase(job.held.record().user);
}

}  // namespace tarcil::agent
