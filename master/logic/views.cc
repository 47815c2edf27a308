#include "master/logic/views.h"

#include <algorithm>

#include "core/model/contention.h"
#include "core/model/quality.h"
#include "master/logic/health/interference.h"
#include "master/logic/health/violation_reports.h"

namespace tarcil::master {
namespace {

// The smallest id whose text begins with these digits; nullopt where no id's text can.
std::optional<JobId> firstWithPrefix(const std::string& prefix) {
  constexpr size_t kDigits = 2 * sizeof(JobId::bytes);
  if (prefix.size() > kDigits) return std::nullopt;
  return parseJobId(prefix + std::string(kDigits - prefix.size(), '0'));
}

// Resources on which the task feels more from the server's other tasks and the background than it tolerates
// there.
std::vector<Resource> overOf(const Tables& tables, const Server& server, const Profile& profile) {
  const Pressure interference = interferenceOn(profile, server, tables.settings.contention);
  const JobView view = viewOn(profile, server.share, 1.0);
  std::vector<Resource> over;
  for (size_t i = 0; i < interference.size(); ++i) {
    if (interference[i] > view.tolerated[i]) over.push_back(static_cast<Resource>(i));
  }
  return over;
}

bool passes(const Job& job, const JobQuery& query) {
  return (query.states.empty() || query.states.contains(job.progress.state)) &&
         job.record.spec.name.find(query.name) != std::string::npos;
}

// O(jobs ahead).
DemandAhead aheadOf(const JobTable& jobs, const Job& job) {
  DemandAhead ahead;
  const QueueKey key = JobTable::queueKeyOf(job);
  if (!jobs.queue().contains(key)) return ahead;
  jobs.queue().order().walk([&](const QueueKey& next) -> std::optional<uint64_t> {
    if (next == key) return std::nullopt;
    const Job& other = *jobs.find(next.job);
    ahead.add(other.wanted());
    return other.wanted().units();
  });
  return ahead;
}

WaitingJob waitingJobOf(const JobTable& jobs, const Job& job, const DemandAhead& ahead, WallTime now) {
  const JobSpec& spec = job.record.spec;
  return {.summary = summaryOf(job),
          .spec = spec,
          .liftedPriority = jobs.queue().order().liftedPriority(JobTable::queueKeyOf(job), now),
          .ahead = ahead.jobs(),
          .unitsAhead = ahead.units(),
          .slotsAhead = ahead.slotsBefore(job.wanted()),
          .slots = job.slotsToStart()};
}

}  // namespace

std::vector<WaitingJob> waitingJobs(const JobTable& jobs, size_t atMost, WallTime now) {
  std::vector<WaitingJob> waiting;
  DemandAhead ahead;
  jobs.queue().order().walk([&](const QueueKey& next) -> std::optional<uint64_t> {
    if (waiting.size() == atMost) return std::nullopt;
    const Job& job = *jobs.find(next.job);
    waiting.push_back(waitingJobOf(jobs, job, ahead, now));
    ahead.add(job.wanted());
    return job.wanted().units();
  });
  return waiting;
}

WaitingJob waitingJob(const JobTable& jobs, const Job& job, WallTime now) {
  return waitingJobOf(jobs, job, aheadOf(jobs, job), now);
}

JobDetails detailsOf(const Tables& tables, const Job& job) {
  JobDetails details{job.record, job.progress, job.tasks, aheadOf(tables.jobs, job).jobs()};
  details.steps = job.adjusting.steps;
  if (tables.violations.size() == 0) return details;
  for (const TaskRecord& task : job.tasks) {
    const Hold* hold = isFinal(task.state) ? nullptr : tables.jobs.holder(task.allocation);
    if (hold == nullptr) continue;
    if (auto violation = violationOf(tables, *hold)) details.violations.push_back(std::move(*violation));
  }
  return details;
}

JobSummary summaryOf(const Job& job) {
  JobSummary summary;
  summary.id = job.record.id;
  summary.name = job.record.spec.name;
  summary.user = job.record.user;
  summary.reason = job.progress.reason;
  summary.state = job.progress.state;
  summary.tasks = job.record.spec.tasks;
  summary.queued = job.count(RunState::kQueued);
  summary.active = job.active();
  summary.succeeded = job.count(RunState::kDone);
  summary.failed = job.count(RunState::kFailed);
  summary.submitted = job.record.submitted;
  summary.finished = job.progress.finished;
  return summary;
}

JobPage pageOf(const JobTable& jobs, const Caller& caller, const JobQuery& query) {
  // A user's own jobs have an order of their own, so that nobody has to look through those of others.
  const std::string& user = caller.role == Role::kOperate ? query.user : caller.user;
  if (!query.user.empty() && !maySteer(caller, query.user)) return {};
  const ByAge& byAge = user.empty() ? jobs.byAge() : jobs.byAgeOf(user);
  const size_t limit = std::min(query.limit, kMaxJobsAPage);
  JobPage page;
  size_t lookedAt = 0;
  auto it = byAge.end();
  if (query.after) it = byAge.lower_bound({query.after->submitted, query.after->id});
  while (it != byAge.begin()) {
    if (page.jobs.size() == limit || lookedAt == kMaxJobsLookedAt) {
      page.next = JobPosition{it->first, it->second};
      return page;
    }
    --it;
    ++lookedAt;
    if (it->first < query.since) return page;
    const Job& job = *jobs.find(it->second);
    if (passes(job, query)) page.jobs.push_back(summaryOf(job));
  }
  return page;
}

std::vector<JobId> idsWithPrefix(const Tables& tables, const std::string& prefix, const Caller& caller) {
  std::vector<JobId> ids;
  const std::optional<JobId> first = firstWithPrefix(prefix);
  if (!first) return ids;
  const auto& jobs = tables.jobs.all();
  for (auto it = jobs.lower_bound(*first); it != jobs.end() && ids.size() < 2; ++it) {
    if (!toString(it->first).starts_with(prefix)) break;
    if (maySteer(caller, it->second.record.user)) ids.push_back(it->first);
  }
  return ids;
}

ServerView viewOf(const Tables& tables, const Server& server) {
  ServerView view;
  view.id = server.record.id;
  view.facts = server.record.facts;
  view.status = server.status;
  view.contention = contention(tables.settings.contention, server.status.sum, server.share,
                               server.status.background, static_cast<int>(server.record.facts.rus));
  const Server::Trust& trust = server.trust;
  view.reason = !trust.asideReason.empty()            ? trust.asideReason
                : !server.record.cordonReason.empty() ? server.record.cordonReason
                                                      : server.autoCordonReason;
  view.autoCordoned = !server.autoCordonReason.empty() && !server.record.cordoned;
  view.draining = server.record.draining;
  view.drainAt = server.record.drainAt;
  view.asideUntil = trust.asideUntil;
  view.refusedClaims = server.refusedClaims;
  view.neverStarted = trust.neverStarted;
  view.absent = server.absent;
  view.pool = server.record.pool.held;
  view.poolCaused = server.poolCaused;
  for (const Resident& resident : server.residents) {
    const Hold& hold = *tables.jobs.holder(resident.allocation);
    const Profile& profile = hold.job->record.spec.profile;
    view.tasks.push_back({hold.job->record.id, hold.task, resident.allocation, resident.rus, resident.extras,
                          profile, overOf(tables, server, profile)});
    if (auto violation = violationOf(tables, hold)) view.violations.push_back(std::move(*violation));
  }
  return view;
}

}  // namespace tarcil::master
