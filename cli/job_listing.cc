#include "cli/job_listing.h"

#include <algorithm>

#include "cli/output/job_status.h"
#include "core/base/failure.h"
#include "core/base/names.h"
#include "core/base/text.h"

namespace tarcil {
namespace {

constexpr size_t kJobsAPage = 1'000;
// Of one agent: it remembers some hundred thousand tasks.
constexpr uint32_t kMaxLateJobs = 10'000;

std::vector<RunState> statesOf(const std::vector<std::string>& texts) {
  std::vector<RunState> states;
  for (const std::string& text : texts) {
    const auto state = runStateNamed(text);
    if (!state) {
      throw badInput(
          "--state: " + shown(text) +
          " is no state; write some of queued, starting, running, done, failed, cancelled, lost, with "
          "commas between them");
    }
    states.push_back(*state);
  }
  return states;
}

wire::JobFilter::Reader written(const JobFilter& filter, wire::JobFilter::Builder to) {
  to.setUser(filter.user.c_str());
  to.setName(filter.name.c_str());
  auto states = to.initStates(static_cast<uint32_t>(filter.states.size()));
  for (uint32_t i = 0; i < states.size(); ++i) states.set(i, toWire(filter.states[i]));
  to.setSince(toWire(filter.since));
  return to.asReader();
}

}  // namespace

void addJobFilterFlags(CLI::App& command, JobFilterFlags& flags) {
  command.add_option("--state", flags.states, "In one of these states, with commas between them.")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(notEmpty())
      ->type_name("LIST");
  command.add_option("--user", flags.user, "Submitted by this user.")->check(notEmpty())->type_name("NAME");
  command.add_option("--name", flags.name, "With this part in the name.")
      ->check(notEmpty())
      ->type_name("PART");
  command
      .add_option("--since", flags.since,
                  "Submitted since then: 1h ago, 2026-05-01, 6:00, 'yesterday 6:00', by your clock.")
      ->check(notEmpty())
      ->type_name("TIME");
}

JobFilter jobFilterOf(const JobFilterFlags& flags, const LocalClock& clock) {
  JobFilter filter{.states = statesOf(flags.states), .user = flags.user, .name = flags.name};
  if (flags.since.empty()) return filter;
  const auto since = parsePointInTime(flags.since, clock, Looking::kBack);
  if (!since) throw badInput("--since: " + since.error().message);
  filter.since = *since;
  return filter;
}

JobListing::JobListing(Cluster& cluster, const JobFilter& filter, size_t limit,
                       const std::optional<JobId>& after)
    : cluster_(cluster),
      filter_(written(filter, message_.initRoot<wire::JobFilter>())),
      pageSize_(static_cast<uint32_t>(std::min(limit, kJobsAPage - 1) + 1)) {
  if (after) after_ = positionOf(*after);
  lateLists_ = LateAgents(cluster).list(kMaxLateJobs, filter_);
  for (const auto& list : lateLists_) {
    for (Summary job : list.getJobs()) {
      if (!after_ || wallTime(job.getSubmitted()) < after_->submitted) late_.push_back(job);
    }
  }
  std::ranges::stable_sort(
      late_, [](Summary one, Summary other) { return one.getSubmitted() > other.getSubmitted(); });
  fetchPage();
}

JobListing::Position JobListing::positionOf(const JobId& id) {
  if (const auto job = tryFetchJob(cluster_, id)) return {job->record.submitted, id};
  return {requireLateJob(cluster_, id).submitted, id};
}

// The page behind the last one; the first without one.
void JobListing::fetchPage() {
  page_ = cluster_.ask([&](Session& session) {
    auto request = session.user.jobsRequest();
    request.setLimit(pageSize_);
    request.setFilter(filter_);
    if (page_) {
      request.setAfter(page_->getNext());
    } else if (after_) {
      auto place = request.initAfter();
      place.setSubmitted(toWire(after_->submitted));
      place.setId(bytesOf(after_->id));
    }
    return request.send();
  });
  jobs_ = page_->getJobs();
  nextOfPage_ = 0;
}

std::optional<JobListing::Entry> JobListing::next() {
  while (nextOfPage_ == jobs_.size() && page_->hasNext()) fetchPage();
  const bool isOver = nextOfPage_ == jobs_.size();
  const bool hasLate = nextLate_ < late_.size();
  if (hasLate && (isOver || late_[nextLate_].getSubmitted() >= jobs_[nextOfPage_].getSubmitted()))
    return Entry{late_[nextLate_++], true};
  if (isOver) return std::nullopt;
  return Entry{jobs_[nextOfPage_++], false};
}

}  // namespace tarcil
