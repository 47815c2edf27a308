#include "master/logic/master_logic.h"

#include <algorithm>

#include "core/base/names.h"
#include "master/logic/agents/agent_attachment.h"
#include "master/logic/health/violation_handler.h"
#include "master/logic/jobs/commits.h"
#include "master/logic/jobs/flush.h"
#include "master/logic/jobs/job_steering.h"
#include "master/logic/jobs/profiles.h"
#include "master/logic/jobs/task_life.h"
#include "master/logic/queue/offers.h"
#include "master/logic/servers/monitor_attachment.h"
#include "master/logic/servers/pools.h"
#include "master/logic/servers/quarantine.h"
#include "master/logic/servers/steering.h"
#include "master/logic/startup.h"
#include "master/logic/views.h"

namespace tarcil {
namespace master {
namespace {

// The most that a share can be: a platform on which a pressure weighs four times what it does on the
// reference.
constexpr uint16_t kMaxShare = 4 * kShareUnit;

Status cancel(Context& context, const CancelRequested& event) {
  Job* job = context.tables.jobs.find(event.job);
  // Somebody else's job looks as if it were not there.
  if (job == nullptr || !maySteer(event.caller, job->record.user)) {
    return notFound("there is no job " + toString(event.job));
  }
  if (!isFinal(job->progress.state)) cancelJob(context, *job, event.caller.user);
  return {};
}

Status setSettings(Context& context, const SettingsSet& event) {
  std::string wrong;
  for (const std::string& problem : problems(event.settings)) wrong += (wrong.empty() ? "" : "\n") + problem;
  if (!wrong.empty()) return invalid(std::move(wrong));
  const uint64_t version = context.tables.settings.version + 1;
  context.tables.settings = event.settings;
  context.tables.settings.version = version;
  context.tables.jobs.queue().wakeAll();
  context.out.put(context.tables.settings);
  context.out.send(PublishSettings{context.tables.settings});
  return {};
}

Status setPlatform(Context& context, const PlatformSet& event) {
  if (Status named = checkName("platform", event.platform); !named) return named;
  for (size_t i = 0; i < event.share.size(); ++i) {
    if (event.share[i] <= kMaxShare) continue;
    return invalid("share: " + std::string(kResourceNames[i]) + ": " + std::to_string(event.share[i]) +
                   "/256 is out of range; write at most 4");
  }
  context.tables.servers.setShare(event.platform, event.share);
  context.out.put(PlatformRecord{event.platform, event.share});
  context.out.send(PublishPlatform{event.platform, event.share});
  return {};
}

Status setShares(Context& context, const SharesSet& event) {
  if (event.user.empty()) return invalid("user: is empty; write the name of a user");
  if (event.shares < 1 || event.shares > kMaxShares) {
    return invalid("shares: " + std::to_string(event.shares) + " is out of range; write 1 to " +
                   std::to_string(kMaxShares));
  }
  WaitingOrder& order = context.tables.jobs.queue().order();
  context.tables.usage.setShares(event.user, event.shares);
  order.setShares(order.numberOf(event.user), event.shares);
  context.out.send(PublishShares{event.user, event.shares});
  return {};
}

struct Handler {
  Context& context;

  void operator()(const AgentAttached& event) const { attachAgent(context, event); }
  void operator()(const MonitorAttached& event) const { attachMonitor(context, event); }
  void operator()(const PeerDetached& event) const {
    detachAgent(context, event.session);
    detachMonitor(context, event.session);
  }
  void operator()(const CommitArrived& event) const { handleCommit(context, event); }
  void operator()(const OffersDeclined& event) const { endOffers(context, event); }
  void operator()(const ReportsArrived& event) const { takeReports(context, event); }
  void operator()(const LeaseAsked& event) const { renewLease(context, event); }
  void operator()(const PressureReported& event) const { takePressure(context, event); }
  void operator()(const ViolationsReported& event) const { takeViolations(context, event); }
  void operator()(const TaskResized& event) const { takeResized(context, event); }
  void operator()(const PoolReported& event) const { takePoolReports(context, event); }
  void operator()(const CancelRequested& event) const {
    context.out.send(Answer{event.request, cancel(context, event)});
  }
  void operator()(const SettingsSet& event) const {
    context.out.send(Answer{event.request, setSettings(context, event)});
  }
  void operator()(const PlatformSet& event) const {
    context.out.send(Answer{event.request, setPlatform(context, event)});
  }
  void operator()(const SharesSet& event) const {
    context.out.send(Answer{event.request, setShares(context, event)});
  }
  void operator()(const ProfileStored& event) const {
    context.out.send(Answer{event.request, storeProfile(context, event)});
  }
  void operator()(const ProfileDeleted& event) const {
    context.out.send(Answer{event.request, deleteProfile(context, event)});
  }
  void operator()(const ServersSteered& event) const {
    context.out.send(Answer{event.request, steerServers(context, event)});
  }
  void operator()(const JobSteered& event) const {
    context.out.send(Answer{event.request, steerJob(context, event)});
  }
  void operator()(const SpaceMeasured& event) const { context.tables.freeBytes = event.freeBytes; }
  void operator()(const TimerFired&) const {
    context.tables.wakeAt.reset();
    loseOverdue(context);
    handOverOverdue(context);
    drainOverdue(context);
    endQuarantines(context);
    adjustDue(context);
    endOverdueOffers(context);
    context.tables.jobs.releaseDue(context.now.wall);
  }
};

}  // namespace
}  // namespace master

struct MasterLogic::State {
  master::Tables tables;
};

MasterLogic::MasterLogic(const MasterOptions& options, StoreContents contents, Now now, Rng& rng,
                         std::vector<master::Action>& actions)
    : state_(new State{master::tablesFrom(options, std::move(contents), now)}) {
  master::Outbox out(actions);
  master::Context context{state_->tables, now, out};
  master::start(context, rng);
  master::flush(context);
}

MasterLogic::~MasterLogic() = default;

void MasterLogic::handle(const master::Event& event, Now now, Rng&, std::vector<master::Action>& actions) {
  master::Outbox out(actions);
  master::Context context{state_->tables, now, out};
  std::visit(master::Handler{context}, event);
  master::flush(context);
}

std::string MasterLogic::warning() const {
  return master::spaceProblem(state_->tables);
}

std::optional<JobDetails> MasterLogic::job(const JobId& id) const {
  const master::Job* job = state_->tables.jobs.find(id);
  if (job == nullptr) return std::nullopt;
  return master::detailsOf(state_->tables, *job);
}

std::vector<WaitingJob> MasterLogic::waitingJobs(const Caller& caller, size_t atMost, WallTime now) const {
  std::vector<WaitingJob> jobs = master::waitingJobs(state_->tables.jobs, atMost, now);
  std::erase_if(jobs, [&caller](const WaitingJob& job) { return !maySteer(caller, job.summary.user); });
  return jobs;
}

std::optional<WaitingJob> MasterLogic::waitingJob(const JobId& id, WallTime now) const {
  const master::JobTable& jobs = state_->tables.jobs;
  const master::Job* job = jobs.find(id);
  if (job == nullptr || !job->waits()) return std::nullopt;
  return master::waitingJob(jobs, *job, now);
}

std::optional<MasterLogic::Need> MasterLogic::need(const JobId& id) const {
  const master::Job* job = state_->tables.jobs.find(id);
  if (job == nullptr || !job->waits()) return std::nullopt;
  return Need{.spec = &job->record.spec, .slots = job->slotsToStart()};
}

std::optional<JobSummary> MasterLogic::summary(const JobId& id) const {
  const master::Job* job = state_->tables.jobs.find(id);
  if (job == nullptr) return std::nullopt;
  return master::summaryOf(*job);
}

std::optional<TaskRecord> MasterLogic::task(const JobId& id, TaskIndex index) const {
  const master::Job* job = state_->tables.jobs.find(id);
  if (job == nullptr || index >= job->tasks.size()) return std::nullopt;
  return job->tasks[index];
}

JobPage MasterLogic::jobs(const Caller& caller, const JobQuery& query) const {
  return master::pageOf(state_->tables.jobs, caller, query);
}

std::vector<JobId> MasterLogic::jobsStartingWith(const std::string& prefix, const Caller& caller) const {
  return master::idsWithPrefix(state_->tables, prefix, caller);
}

std::vector<ServerView> MasterLogic::servers() const {
  const master::ServerTable& servers = state_->tables.servers;
  std::vector<ServerView> views;
  views.reserve(servers.size());
  for (ServerId id = 0; id < servers.size(); ++id) {
    views.push_back(master::viewOf(state_->tables, servers.at(id)));
  }
  return views;
}

const ServerFacts* MasterLogic::facts(ServerId server) const {
  const master::ServerTable& servers = state_->tables.servers;
  return server < servers.size() ? &servers.at(server).record.facts : nullptr;
}

std::optional<ServerView> MasterLogic::server(const std::string& name) const {
  const master::Server* server = std::as_const(state_->tables.servers).find(name);
  if (server == nullptr) return std::nullopt;
  return master::viewOf(state_->tables, *server);
}

std::vector<Usage> MasterLogic::usage(const Caller& caller) const {
  std::vector<Usage> usages;
  for (const auto& [user, usage] : state_->tables.usage.all()) {
    if (maySteer(caller, user)) usages.push_back(usage);
  }
  return usages;
}

std::vector<AgentView> MasterLogic::agents() const {
  std::vector<AgentView> views;
  for (const auto& [name, agent] : state_->tables.agents.all()) {
    views.push_back({name, agent.address, agent.record.epoch, agent.session.has_value(),
                     static_cast<uint32_t>(agent.jobs.size())});
  }
  return views;
}

const std::map<std::string, StoredProfile>& MasterLogic::profiles() const {
  return state_->tables.profiles;
}

const std::map<std::string, Profiling>& MasterLogic::profilings() const {
  return state_->tables.profilings;
}

const StoredProfile* MasterLogic::profile(const std::string& application) const {
  return master::findProfile(state_->tables.profiles, application);
}

const QualitySettings& MasterLogic::settings() const {
  return state_->tables.settings;
}

std::vector<PlatformRecord> MasterLogic::platforms() const {
  std::vector<PlatformRecord> records;
  for (const auto& [name, share] : state_->tables.servers.shares()) records.push_back({name, share});
  return records;
}

MasterLogic::Load MasterLogic::load() const {
  const master::Tables& tables = state_->tables;
  return {.jobs = tables.jobs.inState(),
          .waiting = tables.jobs.queue().size(),
          .agents = tables.agents.attached(),
          .monitors = tables.servers.monitors(),
          .quarantined = tables.servers.quarantines().size(),
          .kept = tables.jobs.queue().kept().size(),
          .preempted = tables.preempted,
          .isDegraded = tables.violations.size(),
          .autoCordoned = tables.servers.autoCordons().size(),
          .adjusted = tables.adjusted,
          .freeBytes = tables.freeBytes};
}

const ClusterRecord& MasterLogic::cluster() const {
  return state_->tables.cluster;
}

std::vector<ServerUpdate> MasterLogic::snapshot() const {
  const master::ServerTable& servers = state_->tables.servers;
  std::vector<ServerUpdate> updates;
  updates.reserve(servers.size());
  for (ServerId id = 0; id < servers.size(); ++id) {
    const master::Server& server = servers.at(id);
    updates.push_back({id, server.record.facts, server.status});
  }
  return updates;
}

}  // namespace tarcil
