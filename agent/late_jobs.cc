#include "agent/late_jobs.h"

#include <algorithm>

namespace tarcil {

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
  doneTasks_ += done_.back().over.size();
  while (doneTasks_ > keptTasks_ && done_.size() > 1) {
    doneTasks_ -= done_.front().over.size();
    done_.pop_front();
  }
}

const LateHeld* LateJobs::find(const JobId& id) const {
  for (const auto& [number, job] : held_) {
    if (job.id == id) return &job;
  }
  const auto found =
      std::find_if(done_.rbegin(), done_.rend(), [&id](const LateHeld& job) { return job.id == id; });
  return found == done_.rend() ? nullptr : &*found;
}

std::vector<late::JobNumber> LateJobs::ofSession(const LateSession& session) const {
  std::vector<late::JobNumber> jobs;
  for (const auto& [number, job] : held_) {
    if (job.session == &session) jobs.push_back(number);
  }
  return jobs;
}

}  // namespace tarcil
