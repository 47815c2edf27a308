// What MasterLogic answers to queries.
#include <algorithm>

#include "core/base/units.h"
#include "core/model/contention.h"
#include "core/model/quality.h"
#include "core/state/launch_of.h"
#include "master/logic/health/interference.h"
#include "master/logic/health/throttling.h"
#include "master/logic/health/violation_reports.h"
#include "master/logic/jobs/observed_profiles.h"
#include "master/logic/jobs/profiles.h"
#include "master/logic/master_logic.h"
#include "master/logic/read_only.h"
#include "master/logic/secrets/secrets.h"
#include "master/logic/tables.h"

namespace tarcil {
namespace master {
namespace {

// The smallest id whose text begins with these digits; nullopt where no id's text can.
std::optional<JobId> firstWithPrefix(const std::string& prefix) {
  constexpr size_t kDigits = 2 * sizeof(JobId::bytes);
  if (prefix.size() > kDigits) return std::nullopt;
  return parseJobId(prefix + std::string(kDigits - prefix.size(), '0'));
}

// Resources on which the task feels more from the server's other tasks and the background than it
// tolerates there.
std::vector<Resource> overOf(const Tables& tables, const Server& server, const Resident& resident,
                             const Profile& profile) {
  const Pressure interference = interferenceOn(resident, server, tables.settings.contention);
  const JobView view = viewOn(profile, server.share, 1.0);
  std::vector<Resource> over;
  for (size_t i = 0; i < interference.size(); ++i) {
    if (interference[i] > view.tolerated[i]) over.push_back(static_cast<Resource>(i));
  }
  return over;
}

JobSummary summaryOf(const Job& job) {
  JobSummary summary;
  summary.id = job.record.id;
  summary.number = job.record.number;
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

CronView viewOf(const Tables& tables, const LiveCron& live, size_t times) {
  CronView view{.cron = live.cron, .next = {}, .problem = live.unusable};
  const auto renew = [&tables, &live](CronRun& run) {
    const Job* job = run.number == 0 ? nullptr : tables.jobs.find(run.job);
    if (job != nullptr && isJobOf(live.cron, job->record)) run.state = job->progress.state;
  };
  for (CronRun& run : view.cron.runs) renew(run);
  if (view.cron.lastJob) renew(*view.cron.lastJob);
  if (!live.isRunning()) return view;
  for (auto next = live.nextTime(); next && view.next.size() < times;
       next = nextTime(live.schedule, *live.zone, *next)) {
    view.next.push_back(*next);
  }
  return view;
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

// Which of the job's servers nobody can reach; empty where none is. Of a job with many tasks the first alone
// are looked at: the thread that decides has no more time for a question.
std::string whoIsOutOfReach(const Tables& tables, const Job& job) {
  constexpr size_t kLookedAt = 256;
  for (TaskIndex index = 0; index < std::min(job.tasks.size(), kLookedAt) && job.active() > 0; ++index) {
    const TaskRecord* task = job.tasks.find(index);
    const Hold* hold =
        task != nullptr && isActive(task->state) ? tables.jobs.holder(task->allocation) : nullptr;
    if (hold == nullptr) continue;
    const Server& server = tables.servers.at(hold->server);
    if (server.status.up) continue;
    return "server " + server.record.facts.name + ", where task " + std::to_string(index) +
           " is, is out of reach; once that has lasted for " + formatDuration(tables.options.serverTimeout) +
           " (--server-timeout of the master) its tasks count as lost";
  }
  return {};
}

JobDetails detailsOf(const Tables& tables, const Job& job, TaskIndex firstTask, uint32_t atMost) {
  JobDetails details{.record = job.record, .progress = job.progress, .tasks = {}, .inState = job.inState};
  details.outOfReach = whoIsOutOfReach(tables, job);
  if (firstTask == 0) {
    details.ahead = aheadOf(tables.jobs, job).jobs();
    details.steps = job.adjusting.steps;
  }
  const auto size = static_cast<TaskIndex>(job.tasks.size());
  const TaskIndex first = std::min(firstTask, size), end = first + std::min(atMost, size - first);
  if (end < size) details.nextTask = end;
  details.tasks.reserve(end - first);
  for (TaskIndex index = first; index < end; ++index) {
    const TaskRecord& task = details.tasks.emplace_back(taskOf(job, index));
    const Hold* hold = isActive(task.state) ? tables.jobs.holder(task.allocation) : nullptr;
    if (hold == nullptr) continue;
    const Resident& resident = residentOf(tables, *hold);
    if (resident.measured.any()) details.charges.push_back({task.index, resident.caused, resident.measured});
    if (auto violation = violationOf(tables, *hold)) details.violations.push_back(std::move(*violation));
  }
  return details;
}

std::optional<Reached> performanceOf(const Tables& tables, AllocationId allocation) {
  const auto found = tables.performances.find(allocation);
  return found == tables.performances.end() ? std::nullopt : std::optional(found->second);
}

// Without tasks those are there all the same that are watched.
ServerView viewOf(const Tables& tables, const Server& server, bool withTasks = true) {
  ServerView view;
  view.id = server.record.id;
  view.facts = server.record.facts;
  view.status = server.status;
  view.contention = contention(tables.settings.contention, server.status.sum, server.share,
                               server.status.background, static_cast<int>(server.record.facts.rus));
  const Server::Trust& trust = server.trust;
  // What lasts longest comes first.
  view.reason = !server.record.cordonReason.empty() ? server.record.cordonReason
                : !trust.asideReason.empty()        ? trust.asideReason
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
    const auto performance = performanceOf(tables, resident.allocation);
    if (withTasks || performance) {
      view.tasks.push_back({hold.job->record.id, hold.job->record.number, hold.task, resident.allocation,
                            resident.rus, resident.extras, profile, overOf(tables, server, resident, profile),
                            resident.caused, resident.measured, throttleOf(tables, resident.allocation),
                            resident.request, resident.isStrict, performance});
    }
    if (auto violation = violationOf(tables, hold)) view.violations.push_back(std::move(*violation));
  }
  return view;
}

}  // namespace
}  // namespace master

bool MasterLogic::isReadOnly() const {
  return tables_->options.readOnly;
}

Duration MasterLogic::doubtfulGap() const {
  return tables_->doubtfulGap;
}

std::string MasterLogic::warning() const {
  return isReadOnly() ? master::readOnlyError().message : master::spaceProblem(*tables_);
}

std::optional<JobDetails> MasterLogic::job(const JobId& id, TaskIndex firstTask, uint32_t atMost) const {
  const master::Job* job = tables_->jobs.find(id);
  if (job == nullptr) return std::nullopt;
  return master::detailsOf(*tables_, *job, firstTask, atMost);
}

uint32_t MasterLogic::filePieces(const JobId& id) const {
  const master::Job* job = tables_->jobs.find(id);
  if (job == nullptr || !job->record.hasFiles || isFinal(job->progress.state)) return 0;
  return std::max(job->record.filePieces, 1u);
}

void MasterLogic::hideOthers(const Caller& caller, ServerView& view) const {
  if (!tables_->options.hidesOthers) return;
  const auto isSeen = [&](const JobId& id) {
    const master::Job* job = tables_->jobs.find(id);
    return job != nullptr && maySteer(caller, job->record.user);
  };
  for (ServerView::Task& task : view.tasks) {
    if (isSeen(task.job)) continue;
    task.job = {};
    task.jobNumber = 0;
    task.index = 0;
    task.allocation = 0;
    task.performance.reset();
  }
  std::erase_if(view.violations, [&](const TaskViolation& violation) { return !isSeen(violation.job); });
  hideNeighbours(caller, view.violations);
}

void MasterLogic::hideNeighbours(const Caller& caller, std::vector<TaskViolation>& violations) const {
  if (!tables_->options.hidesOthers || caller.role == Role::kOperate) return;
  for (TaskViolation& violation : violations) {
    for (std::string& neighbour : violation.neighbours) {
      if (!neighbour.empty()) neighbour = kSomebodysTask;
    }
  }
}

Result<AfterOutlook> MasterLogic::outlookOf(const Caller& caller, const JobSpec& spec) const {
  const JobRecord record{.id = {}, .spec = spec, .user = caller.user, .runAs = {}};
  if (std::string problem = master::whyNotAfter(*tables_, record); !problem.empty()) return invalid(problem);
  if (std::string problem = master::whyNotSecrets(*tables_, record); !problem.empty())
    return invalid(problem);
  return master::outlookOf(*tables_, spec);
}

std::vector<WaitingJob> MasterLogic::waitingJobs(const Caller& caller, size_t atMost, WallTime now) const {
  const master::JobTable& jobs = tables_->jobs;
  std::vector<WaitingJob> waiting;
  size_t visited = 0;
  master::DemandAhead ahead;
  jobs.queue().order().walk([&](const master::QueueKey& next) -> std::optional<uint64_t> {
    if (visited++ == atMost) return std::nullopt;
    const master::Job& job = *jobs.find(next.job);
    if (maySteer(caller, job.record.user)) waiting.push_back(master::waitingJobOf(jobs, job, ahead, now));
    ahead.add(job.wanted());
    return job.wanted().units();
  });
  return waiting;
}

std::optional<WaitingJob> MasterLogic::waitingJob(const JobId& id, WallTime now) const {
  const master::JobTable& jobs = tables_->jobs;
  const master::Job* job = jobs.find(id);
  if (job == nullptr || !job->waits()) return std::nullopt;
  return master::waitingJobOf(jobs, *job, master::aheadOf(jobs, *job), now);
}

std::optional<MasterLogic::Need> MasterLogic::need(const JobId& id) const {
  const master::Job* job = tables_->jobs.find(id);
  if (job == nullptr || !job->waits()) return std::nullopt;
  return Need{.spec = &job->record.spec, .slots = job->slotsToStart()};
}

std::optional<JobSummary> MasterLogic::summary(const JobId& id) const {
  const master::Job* job = tables_->jobs.find(id);
  if (job == nullptr) return std::nullopt;
  return master::summaryOf(*job);
}

std::optional<ServerId> MasterLogic::serverOf(AllocationId allocation) const {
  const master::Hold* hold = tables_->jobs.holder(allocation);
  return hold == nullptr ? std::nullopt : std::optional(hold->server);
}

std::optional<MasterLogic::Launching> MasterLogic::launching(AllocationId allocation) const {
  const master::Hold* hold = tables_->jobs.holder(allocation);
  if (hold == nullptr || hold->job->tasks.state(hold->task) != RunState::kStarting) return std::nullopt;
  const master::Server& server = tables_->servers.at(hold->server);
  if (!server.session) return std::nullopt;
  const JobRecord& record = hold->job->record;
  const Resident& resident = master::residentOf(*tables_, *hold);
  const uint32_t attempt = hold->job->tasks[hold->task].attempt;
  Launching launching{
      .launch = launchOf(record, hold->task, {allocation, attempt, resident.rus, resident.extras}),
      .monitor = *server.session,
      .agent = hold->job->progress.owner};
  launching.launch.server = server.record.facts.name;
  growMemory(launching.launch, unitsMore(record.spec, resident.rus.size()), server.record.facts);
  return launching;
}

std::optional<TaskRecord> MasterLogic::task(const JobId& id, TaskIndex index) const {
  const master::Job* job = tables_->jobs.find(id);
  if (job == nullptr || index >= job->tasks.size()) return std::nullopt;
  return master::taskOf(*job, index);
}

JobPage MasterLogic::jobs(const Caller& caller, const JobQuery& query) const {
  // A user's own jobs have an order of their own, so that nobody has to look through those of others.
  const std::string& user = caller.role == Role::kOperate ? query.user : caller.user;
  if (!query.user.empty() && !maySteer(caller, query.user)) return {};
  const master::ByAge& byAge = user.empty() ? tables_->jobs.byAge() : tables_->jobs.byAgeOf(user);
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
    const master::Job& job = *tables_->jobs.find(it->second);
    if (master::passes(job, query)) page.jobs.push_back(master::summaryOf(job));
  }
  return page;
}

std::vector<JobId> MasterLogic::jobsStartingWith(const std::string& prefix, const Caller& caller) const {
  std::vector<JobId> ids;
  const std::optional<JobId> first = master::firstWithPrefix(prefix);
  if (!first) return ids;
  const auto& jobs = tables_->jobs.all();
  for (auto it = jobs.lower_bound(*first); it != jobs.end() && ids.size() < 2; ++it) {
    if (!toString(it->first).starts_with(prefix)) break;
    if (maySteer(caller, it->second.record.user)) ids.push_back(it->first);
  }
  return ids;
}

std::vector<JobId> MasterLogic::jobsNumbered(JobNumber number, const Caller& caller) const {
  const master::Job* job = tables_->jobs.numbered(number);
  if (job == nullptr || !maySteer(caller, job->record.user)) return {};
  return {job->record.id};
}

std::vector<ServerView> MasterLogic::servers() const {
  const master::ServerTable& servers = tables_->servers;
  std::vector<ServerView> views;
  views.reserve(servers.size());
  for (ServerId id = 0; id < servers.size(); ++id) {
    if (!servers.at(id).record.removed) views.push_back(master::viewOf(*tables_, servers.at(id)));
  }
  return views;
}

std::vector<ServerView> MasterLogic::serversWithoutTasks(ServerId first, size_t atMost) const {
  const master::ServerTable& servers = tables_->servers;
  std::vector<ServerView> views;
  for (ServerId id = first; id < servers.size() && views.size() < atMost; ++id) {
    if (!servers.at(id).record.removed) views.push_back(master::viewOf(*tables_, servers.at(id), false));
  }
  return views;
}

const ServerFacts* MasterLogic::facts(ServerId server) const {
  const master::ServerTable& servers = tables_->servers;
  return server < servers.size() ? &servers.at(server).record.facts : nullptr;
}

std::optional<ServerView> MasterLogic::server(const std::string& name) const {
  const master::Server* server = std::as_const(tables_->servers).find(name);
  if (server == nullptr || server->record.removed) return std::nullopt;
  return master::viewOf(*tables_, *server);
}

std::vector<CronView> MasterLogic::crons(const Caller& caller, const CronName& after, size_t atMost) const {
  std::vector<CronView> views;
  const auto& all = tables_->crons.all();
  for (auto it = all.upper_bound(after); it != all.end() && views.size() < atMost; ++it) {
    if (maySteer(caller, it->first.first)) views.push_back(master::viewOf(*tables_, it->second, 1));
  }
  return views;
}

std::optional<CronView> MasterLogic::cron(const CronName& name, size_t times) const {
  const auto found = tables_->crons.all().find(name);
  if (found == tables_->crons.all().end()) return std::nullopt;
  return master::viewOf(*tables_, found->second, times);
}

std::vector<Usage> MasterLogic::usage(const Caller& caller, const std::string& after, size_t atMost) const {
  std::vector<Usage> usages;
  const auto& all = tables_->usage.all();
  for (auto it = all.upper_bound(after); it != all.end() && usages.size() < atMost; ++it) {
    if (maySteer(caller, it->first)) usages.push_back(it->second);
  }
  return usages;
}

std::vector<AgentView> MasterLogic::agents(const std::string& after, size_t atMost) const {
  std::vector<AgentView> views;
  const auto& all = std::as_const(tables_->agents).all();
  for (auto it = all.upper_bound(after); it != all.end() && views.size() < atMost; ++it) {
    const auto& [name, agent] = *it;
    views.push_back({name, agent.address, agent.record.epoch, agent.session.has_value(),
                     static_cast<uint32_t>(agent.jobs.size())});
  }
  return views;
}

const std::map<std::pair<std::string, std::string>, StoredProfile>& MasterLogic::profiles() const {
  return tables_->profiles;
}

const std::map<std::string, Profiling>& MasterLogic::profilings() const {
  return tables_->profilings;
}

const StoredProfile* MasterLogic::profile(const std::string& application, const std::string& user) const {
  return master::findProfile(tables_->profiles, application, user);
}

const ObservedProfile* MasterLogic::observed(const std::string& application, const std::string& user) const {
  return master::findObserved(tables_->observed, application, user);
}

const std::map<std::pair<std::string, std::string>, ObservedProfile>& MasterLogic::observed() const {
  return tables_->observed;
}

const PeopleTable& MasterLogic::people() const {
  return tables_->people;
}

const SecretTable& MasterLogic::secrets() const {
  return tables_->secrets;
}

const MasterOptions& MasterLogic::options() const {
  return tables_->options;
}

const MemberTable& MasterLogic::members() const {
  return tables_->members;
}

const QualitySettings& MasterLogic::settings() const {
  return tables_->settings;
}

std::vector<PlatformRecord> MasterLogic::platforms(const std::string& after, size_t atMost) const {
  std::vector<PlatformRecord> records;
  const auto& all = tables_->servers.shares();
  for (auto it = all.upper_bound(after); it != all.end() && records.size() < atMost; ++it) {
    records.push_back({it->first, it->second});
  }
  return records;
}

MasterLogic::Load MasterLogic::load() const {
  const master::Tables& tables = *tables_;
  return {.jobs = tables.jobs.inState(),
          .waiting = tables.jobs.queue().size(),
          .agents = tables.agents.attached(),
          .monitors = tables.servers.monitors(),
          .quarantined = tables.servers.quarantines().size(),
          .reservedServers = tables.jobs.queue().reserved().size(),
          .preempted = tables.preempted,
          .isDegraded = tables.violations.size(),
          .autoCordoned = tables.servers.autoCordons().size(),
          .adjusted = tables.adjusted,
          .violations = tables.violationsBegun,
          .freeBytes = tables.freeBytes};
}

bool MasterLogic::goOn(ClusterSurvey& survey, size_t atMost) const {
  return survey.goOn(*tables_, atMost);
}

const ClusterRecord& MasterLogic::cluster() const {
  return tables_->cluster;
}

std::vector<ServerUpdate> MasterLogic::snapshot() const {
  const master::ServerTable& servers = tables_->servers;
  std::vector<ServerUpdate> updates;
  updates.reserve(servers.size());
  for (ServerId id = 0; id < servers.size(); ++id) {
    const master::Server& server = servers.at(id);
    updates.push_back({id, server.record.facts, server.status});
  }
  return updates;
}

}  // namespace tarcil
