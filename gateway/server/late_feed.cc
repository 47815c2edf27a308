#include "gateway/server/late_feed.h"

#include <capnp/message.h>
#include <spdlog/spdlog.h>

#include "cli/late_agents.h"
#include "cli/output/job_summary.h"
#include "gateway/server/reply.h"
#include "rpc/errors.h"
#include "schema/convert.h"

namespace tarcil::gateway {
namespace {

constexpr auto kBetweenQuestions = 1 * kj::SECONDS;
// Of each agent, the newest.
constexpr uint32_t kMaxJobs = 1'000;

// On a worker's thread.
LateFeed::Jobs askFor(Cluster& cluster) {
  capnp::MallocMessageBuilder anyJob;
  LateFeed::Jobs jobs;
  LateAgents agents(cluster);
  for (const auto& list : agents.list(kMaxJobs, anyJob.initRoot<wire::JobFilter>().asReader())) {
    for (const auto job : list.getJobs())
      jobs[readJobId(job.getId())] = {job.getUser().cStr(), textOf(jsonOfSummary(job, /*isLate=*/true))};
  }
  return jobs;
}

}  // namespace

LateFeed::LateFeed(Workers& workers, kj::Timer& timer, EventRing& ring, std::string token,
                   std::function<void()> happened)
    : workers_(workers),
      timer_(timer),
      ring_(ring),
      token_(std::move(token)),
      happened_(std::move(happened)) {}

kj::Promise<void> LateFeed::run() {
  auto asked = kj::evalNow(
      [this]() { return workers_.ask<Jobs>(token_, [](Cluster& cluster) { return askFor(cluster); }); });
  return asked
      .then([this](Jobs&& jobs) { take(kj::mv(jobs)); },
            [](kj::Exception&& exception) {
              spdlog::debug("late-bound jobs are not followed for now: {}", fromException(exception).message);
            })
      .then([this]() { return timer_.afterDelay(kBetweenQuestions); })
      .then([this]() { return run(); });
}

void LateFeed::take(Jobs&& jobs) {
  bool isNews = false;
  for (const auto& [id, job] : jobs) {
    const auto before = told_.find(id);
    if (before != told_.end() && before->second.json == job.json) continue;
    ring_.add({"job", job.json, job.owner});
    isNews = true;
  }
  told_ = std::move(jobs);
  if (isNews) happened_();
}

}  // namespace tarcil::gateway
