#include "cli/waiting_progress.h"

#include <algorithm>

#include "cli/output/render.h"

namespace tarcil {
namespace {

// Jobs that are asked about at once: with more of them a round takes longer.
constexpr size_t kAskedAtOnce = 50;
constexpr kj::Duration kPause = 500 * kj::MILLISECONDS;

bool isOver(const std::optional<JobCounts>& job) {
  return job && isFinal(job->progress.state);
}

std::vector<uint32_t> sumOf(const std::vector<std::optional<JobCounts>>& jobs) {
  std::vector<uint32_t> sum;
  for (const auto& job : jobs) {
    if (!job) continue;
    sum.resize(std::max(sum.size(), job->inState.size()));
    for (size_t state = 0; state < job->inState.size(); ++state) sum[state] += job->inState[state];
  }
  return sum;
}

}  // namespace

std::string progressText(const std::vector<std::optional<JobCounts>>& jobs) {
  const std::string tasks = textOfCounts(sumOf(jobs));
  if (jobs.size() == 1) {
    const bool waits = jobs[0] && jobs[0]->progress.state == RunState::kQueued;
    const std::string reason = waits ? jobs[0]->progress.reason : "";
    return reason.empty() ? tasks : tasks + ": " + reason;
  }
  const std::string over =
      std::to_string(std::ranges::count_if(jobs, isOver)) + " of " + counted(jobs.size(), "job") + " over";
  return tasks.empty() ? over : over + "; " + tasks;
}

kj::Promise<void> WaitingProgress::during(kj::Promise<void> waited) {
  if (jobs_.empty() || !ProgressLine::isPossible()) return waited;
  line_.emplace();
  return waited.exclusiveJoin(showFrom(0)).then([this]() { line_.reset(); });
}

kj::Promise<void> WaitingProgress::ask(size_t job) {
  if (isOver(counts_[job])) return kj::READY_NOW;
  return foundOrNothing(fetchCounts(cluster_.client(), jobs_[job].id))
      .then([this, job](std::optional<JobCounts>&& counts) { counts_[job] = std::move(counts); },
            [](kj::Exception&&) {});  // asked again in the next round; what is wrong ends the waiting, too
}

kj::Promise<void> WaitingProgress::showFrom(size_t first) {
  const size_t end = std::min(jobs_.size(), first + kAskedAtOnce);
  auto asked = kj::heapArrayBuilder<kj::Promise<void>>(end - first);
  for (size_t job = first; job < end; ++job) asked.add(ask(job));
  return kj::joinPromises(asked.finish()).then([this, end]() {
    line_->show(progressText(counts_));
    const size_t next = end == jobs_.size() ? 0 : end;
    return cluster_.timer().afterDelay(kPause).then([this, next]() { return showFrom(next); });
  });
}

}  // namespace tarcil
