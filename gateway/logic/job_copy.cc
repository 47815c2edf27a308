#include "gateway/logic/job_copy.h"

#include <utility>

namespace tarcil::gateway {

void JobCopy::put(const JobId& id, JobNumber number, Entry entry) {
  const bool isNew = entries_.insert_or_assign(id, std::move(entry)).second;
  if (!isNew) return;
  inOrder_.emplace_back(id, number);
  if (number != 0) byNumber_[number] = id;
  if (entries_.size() <= most_) return;
  entries_.erase(inOrder_.front().first);
  byNumber_.erase(inOrder_.front().second);
  inOrder_.pop_front();
}

void JobCopy::clear() {
  entries_.clear();
  byNumber_.clear();
  inOrder_.clear();
}

const std::string* JobCopy::find(const JobId& id, const Caller& caller) const {
  const auto found = entries_.find(id);
  return found == entries_.end() || !maySteer(caller, found->second.owner) ? nullptr : &found->second.json;
}

std::optional<JobId> JobCopy::idOf(JobNumber number) const {
  const auto found = byNumber_.find(number);
  return found == byNumber_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace tarcil::gateway
