#include "cli/output_lag.h"

#include <algorithm>
#include <utility>

#include "cli/output/job_status.h"

namespace tarcil {
namespace {

// Between two looks: tasks of milliseconds end some hundred times meanwhile.
constexpr kj::Duration kLookEvery = 500 * kj::MILLISECONDS;

uint32_t endedIn(const JobCounts& job) {
  uint32_t ended = 0;
  for (size_t i = 0; i < job.inState.size(); ++i)
    if (isFinal(static_cast<RunState>(i))) ended += job.inState[i];
  return ended;
}

// What waits so takes a server less than it keeps, with what the tasks write that run then.
constexpr uint64_t kMostBytes = 1u << 30;
constexpr uint64_t kMostTasks = 512;

}  // namespace

uint32_t OutputLag::most(uint64_t bytes) {
  return static_cast<uint32_t>(
      std::clamp<uint64_t>(kMostBytes / std::max<uint64_t>(1, bytes), 8, kMostTasks));
}

kj::Promise<void> OutputLag::limit() {
  return cluster_.timer()
      .afterDelay(kLookEvery)
      .then([this]() { return fetchCounts(cluster_.client(), job_); })
      .then([this](JobCounts&& job) -> kj::Promise<void> {
        if (isFinal(job.progress.state)) return kj::READY_NOW;
        const bool isHeld = isTooLarge(endedIn(job));
        if (std::exchange(isHeld_, isHeld) == isHeld) return limit();
        const auto change = isHeld ? wire::JobChange::HOLD : wire::JobChange::RELEASE;
        return steerJob(cluster_.client(), job_, change).then([this]() { return limit(); });
      });
}

// Not for tasks that end out of their order while earlier ones wait: with these held, nothing would go on.
bool OutputLag::isTooLarge(uint32_t ended) const {
  const uint32_t behind = ended > copied_ ? ended - copied_ : 0;
  return isStuck_() && behind > (isHeld_ ? most_ / 2 : most_);
}

}  // namespace tarcil
