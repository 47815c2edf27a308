#include "agent/waiting_queue.h"

namespace tarcil::agent {

WaitingKey waitingKey(const JobRecord& record) {
  return {.urgency = static_cast<uint8_t>(255 - record.spec.priority),
          .submitted = record.submitted,
          .job = record.id};
}

void WaitingQueue::put(const WaitingKey& key, Mode mode) {
  if (mode == Mode::kToBeTried) {
    resting_.erase(key);
    toTry_.insert(key);
  } else if (!toTry_.contains(key)) {
    resting_.insert(key);
  }
}

void WaitingQueue::erase(const WaitingKey& key) {
  toTry_.erase(key);
  resting_.erase(key);
}

void WaitingQueue::wakeAll() {
  if (toTry_.size() < resting_.size()) toTry_.swap(resting_);
  toTry_.merge(resting_);
}

std::optional<JobId> WaitingQueue::next() {
  if (toTry_.empty()) return std::nullopt;
  auto chosen = toTry_.begin();
  if (!fromHead_) {
    auto after = toTry_.upper_bound(cursor_);
    if (after != toTry_.end()) chosen = after;
    cursor_ = *chosen;
  }
  fromHead_ = !fromHead_;
  JobId job = chosen->job;
  resting_.insert(toTry_.extract(chosen));
  return job;
}

}  // namespace tarcil::agent
