#include "tests/agent/fake_master.h"

#include <algorithm>

#include "core/state/commit_check.h"
#include "core/state/occupancy.h"

namespace tarcil {

namespace {
constexpr AllocationId kElsewhere = 1;
}

FakeMaster::FakeMaster(const std::vector<ServerBuilder>& servers) {
  for (const ServerBuilder& server : servers) {
    servers_.push_back({server.facts(), server.status(), server.residents()});
    servers_.back().facts.address = "monitor of " + server.facts().name;
  }
}

CommitAnswer FakeMaster::take(const Commit& commit) {
  if (auto known = answers_.find(commit.sequence); known != answers_.end()) {
    if (!knows(commit.job) || !jobs_.at(commit.job).over) return known->second;
    CommitAnswer over;
    over.sequence = commit.sequence;
    over.outcome = CommitAnswer::Outcome::kJobOver;
    return over;
  }
  CommitAnswer& answer = answers_[commit.sequence];
  answer.sequence = commit.sequence;
  if (!refusedBecause_.empty()) {
    answer.outcome = refusedAs_;
    answer.problem = std::exchange(refusedBecause_, {});
    return answer;
  }
  if (commit.newJob && knows(commit.job)) {
    answer.outcome = CommitAnswer::Outcome::kJobExists;
    return answer;
  }
  if (commit.newJob) {
    Job& job = jobs_[commit.job] = {.record = commit.newJob->record, .tasks = {}, .reason = {}};
    job.tasks.resize(job.record.spec.tasks);
    for (TaskIndex index = 0; index < job.tasks.size(); ++index) job.tasks[index].index = index;
  }
  if (!knows(commit.job) || jobs_.at(commit.job).over) {
    answer.outcome = CommitAnswer::Outcome::kJobOver;
    return answer;
  }
  jobs_.at(commit.job).reason = commit.waitReason;
  for (const Claim& claim : commit.claims) answer.grants.push_back(check(claim, commit));
  const bool refused = std::ranges::any_of(
      answer.grants, [](const Grant& grant) { return grant.verdict != Verdict::kGranted; });
  for (size_t i = 0; i < commit.claims.size(); ++i) {
    Grant& given = answer.grants[i];
    if (given.verdict != Verdict::kGranted) continue;
    if (commit.gang && refused) {
      given.verdict = Verdict::kNotAll;
    } else {
      grant(jobs_.at(commit.job), commit.claims[i], given);
    }
  }
  for (const Claim& claim : commit.claims) {
    answer.servers.push_back({.id = claim.server, .facts = {}, .status = servers_[claim.server].status});
  }
  return answer;
}

Grant FakeMaster::check(const Claim& claim, const Commit& commit) {
  Grant grant;
  const TaskAssignment& task = jobs_.at(commit.job).tasks.at(claim.task);
  const Server& server = servers_.at(claim.server);
  if (task.state != RunState::kQueued || task.attempt != claim.attempt) {
    grant.verdict = Verdict::kTaskNotWaiting;
  } else if (refusals_ > 0) {
    --refusals_;
    grant.verdict = Verdict::kNotFree;
  } else {
    grant.verdict = checkClaim(claim, commit.judging, jobs_.at(commit.job).record.spec, server.facts,
                               server.status, fullShare());
  }
  return grant;
}

void FakeMaster::grant(Job& job, const Claim& claim, Grant& grant) {
  Server& server = servers_.at(claim.server);
  const Extras& needed = job.record.spec.extras;
  grant.verdict = server.status.free.size() < claim.rus           ? Verdict::kNotFree
                  : !haveExtras(server.status.freeExtras, needed) ? Verdict::kNoExtras
                                                                  : Verdict::kGranted;
  if (grant.verdict != Verdict::kGranted) return;
  const Profile& profile = job.record.spec.profile;
  grant.allocation = nextAllocation_++;
  grant.rus = server.status.free.first(claim.rus);
  grant.extras = lowestExtras(server.status.freeExtras, needed);
  occupy(server.status, server.residents,
         {grant.allocation, grant.rus, profile.caused, profile.tolerated, grant.extras}, server.facts,
         fullShare());
  TaskAssignment& task = job.tasks.at(claim.task);
  task.state = RunState::kStarting;
  task.allocation = grant.allocation;
  task.server = claim.server;
  task.rus = grant.rus;
  task.extras = grant.extras;
}

void FakeMaster::release(TaskAssignment& task) {
  if (task.state != RunState::kStarting && task.state != RunState::kRunning) return;
  Server& server = servers_.at(task.server);
  vacate(server.status, server.residents, task.allocation, server.facts, fullShare());
}

JobAssignment FakeMaster::end(const JobId& id, TaskIndex index) {
  Job& job = jobs_.at(id);
  release(job.tasks.at(index));
  job.tasks[index].state = RunState::kDone;
  job.over = std::ranges::all_of(job.tasks, [](const TaskAssignment& task) { return isFinal(task.state); });
  return news(job, index);
}

JobAssignment FakeMaster::requeue(const JobId& id, TaskIndex index, Duration delay) {
  TaskAssignment& task = jobs_.at(id).tasks.at(index);
  release(task);
  task = {.index = index, .attempt = task.attempt + 1, .delay = delay, .rus = {}};
  return news(jobs_.at(id), index);
}

JobAssignment FakeMaster::run(const JobId& id, TaskIndex index) {
  jobs_.at(id).tasks.at(index).state = RunState::kRunning;
  return news(jobs_.at(id), index);
}

JobAssignment FakeMaster::cancel(const JobId& id) {
  Job& job = jobs_.at(id);
  for (TaskAssignment& task : job.tasks) {
    release(task);
    task.state = RunState::kCancelled;
  }
  job.over = true;
  return {.job = job.record, .complete = true, .over = true, .tasks = {}};
}

JobAssignment FakeMaster::handOver(const JobRecord& record, std::vector<TaskAssignment> tasks) {
  jobs_[record.id] = {.record = record, .tasks = tasks, .reason = {}};
  return {.job = record, .complete = true, .tasks = std::move(tasks)};
}

JobAssignment FakeMaster::news(const Job& job, TaskIndex index) const {
  return {.job = job.record, .over = job.over, .tasks = {job.tasks.at(index)}};
}

void FakeMaster::occupyElsewhere(ServerId id, const Profile& profile, uint32_t units) {
  Server& server = servers_.at(id);
  occupy(server.status, server.residents,
         {kElsewhere, server.status.free.first(units), profile.caused, profile.tolerated}, server.facts,
         fullShare());
}

void FakeMaster::leaveElsewhere(ServerId id) {
  Server& server = servers_.at(id);
  vacate(server.status, server.residents, kElsewhere, server.facts, fullShare());
}

StateChecksum FakeMaster::checksum() const {
  StateChecksum sum;
  for (const ServerUpdate& server : snapshot()) {
    sum.statuses += checksumOf(server.id, server.status);
    sum.facts += checksumOf(server.id, *server.facts);
  }
  return sum;
}

std::vector<JobId> FakeMaster::waitingJobs() const {
  std::vector<const JobRecord*> waiting;
  for (const auto& [id, job] : jobs_) {
    const auto isQueued = [](const TaskAssignment& task) { return task.state == RunState::kQueued; };
    if (!job.over && std::ranges::any_of(job.tasks, isQueued)) waiting.push_back(&job.record);
  }
  std::ranges::stable_sort(waiting, [](const JobRecord* a, const JobRecord* b) {
    return std::pair(-a->spec.priority, a->submitted) < std::pair(-b->spec.priority, b->submitted);
  });
  std::vector<JobId> ids;
  for (const JobRecord* record : waiting) ids.push_back(record->id);
  return ids;
}

ServerUpdate FakeMaster::update(ServerId server) const {
  return {.id = server, .facts = servers_.at(server).facts, .status = servers_.at(server).status};
}

std::vector<ServerUpdate> FakeMaster::snapshot() const {
  std::vector<ServerUpdate> updates;
  for (ServerId server = 0; server < servers_.size(); ++server) updates.push_back(update(server));
  return updates;
}

std::vector<JobAssignment> FakeMaster::unfinishedJobs() const {
  std::vector<JobAssignment> unfinished;
  for (const auto& [id, job] : jobs_) {
    if (job.over) continue;
    JobAssignment& assignment = unfinished.emplace_back();
    assignment.job = job.record;
    assignment.complete = true;
    std::ranges::copy_if(job.tasks, std::back_inserter(assignment.tasks),
                         [](const TaskAssignment& task) { return !isFinal(task.state); });
  }
  return unfinished;
}

uint64_t FakeMaster::freeUnits() const {
  uint64_t units = 0;
  for (const Server& server : servers_) units += server.status.free.size();
  return units;
}

size_t FakeMaster::active(const JobId& job) const {
  return static_cast<size_t>(std::ranges::count_if(jobs_.at(job).tasks, [](const TaskAssignment& task) {
    return task.state == RunState::kStarting || task.state == RunState::kRunning;
  }));
}

}  // namespace tarcil
