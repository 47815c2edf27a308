#include "agent/late/late_jobs.h"

#include <algorithm>

namespace tarcil {

LateProgress progressOf(const LateHeld& job, uint32_t waiting) {
  LateProgress progress;
  bool hasFailed = false, hasLost = false;
  for (const auto& [over, server] : job.over) {
    const bool isDone = over.outcome == late::Outcome::kDone;
    ++(isDone && over.code == 0 ? progress.succeeded : progress.failed);
    hasFailed |= isDone && over.code != 0;
    hasLost |= over.outcome == late::Outcome::kLost;
  }
  progress.queued = waiting;
  progress.active = static_cast<uint32_t>(job.size() - job.over.size()) - waiting;
  if (!job.isOver()) {
    progress.state = waiting == job.size() ? RunState::kQueued : RunState::kRunning;
  } else if (progress.failed == 0) {
    progress.state = RunState::kDone;
  } else {
    progress.state = hasFailed ? RunState::kFailed : hasLost ? RunState::kLost : RunState::kCancelled;
  }
  return progress;
}

LateHeld* LateJobs::find(late::JobNumber number) {
  const auto found = held_.find(number);
  return found == held_.end() ? nullptr : &found->second;
}

void LateJobs::finish(late::JobNumber number, WallTime when) {
  const auto job = held_.extract(number);
  if (!job) return;
  done_.push_back(std::move(job.mapped()));
  done_.back().finished = when;
  done_.back().session = nullptr;
  doneLoad_.tasks += done_.back().over.size();
  doneLoad_.bytes += done_.back().load.bytes;
  while ((doneLoad_.tasks > kept_.tasks || doneLoad_.bytes > kept_.bytes) && done_.size() > 1) {
    doneLoad_.tasks -= done_.front().over.size();
    doneLoad_.bytes -= done_.front().load.bytes;
    done_.pop_front();
  }
}

void LateJobs::setClusterNumber(late::JobNumber number, JobNumber clusterNumber) {
  if (LateHeld* held = find(number)) {
    held->clusterNumber = clusterNumber;
    return;
  }
  const auto done = std::ranges::find(done_, number, &LateHeld::number);
  if (done != done_.end()) done->clusterNumber = clusterNumber;
}

const LateHeld* LateJobs::find(const JobId& id) const {
  for (const auto& [number, job] : held_) {
    if (job.id == id) return &job;
  }
  const auto found =
      std::find_if(done_.rbegin(), done_.rend(), [&id](const LateHeld& job) { return job.id == id; });
  return found == done_.rend() ? nullptr : &*found;
}

std::vector<const LateHeld*> LateJobs::all() const {
  std::vector<const LateHeld*> jobs;
  jobs.reserve(held_.size() + done_.size());
  for (const auto& [number, job] : held_) jobs.push_back(&job);
  for (const LateHeld& job : done_) jobs.push_back(&job);
  std::sort(jobs.begin(), jobs.end(),
            [](const LateHeld* one, const LateHeld* other) { return one->submitted > other->submitted; });
  return jobs;
}

std::vector<late::JobNumber> LateJobs::ofSession(const LateSession& session) const {
  std::vector<late::JobNumber> jobs;
  for (const auto& [number, job] : held_) {
    if (job.session == &session) jobs.push_back(number);
  }
  return jobs;
}

}  // namespace tarcil
