#include "sim/policies/agents.h"

#include <algorithm>
#include <utility>

#include "core/decide/margin.h"
#include "core/state/commit_check.h"
#include "core/state/extras.h"

namespace tarcil::sim {
namespace {

// As in agent/logic/placing.cc.
constexpr size_t kTasksPerCommit = 1024;
constexpr uint32_t kReplans = 4;
constexpr size_t kTurnsPerWake = 64;
// Servers looked at anew with each change, while buckets centre themselves anew.
constexpr uint32_t kStep = 16;

AllocationId allocationOf(TaskNumber task) {
  return AllocationId{task} + 1;
}

}  // namespace

Agents::Agents(World& world, const Belief& belief, const AgentsOptions& options, Rng rng)
    : world_(world),
      belief_(belief),
      options_(options),
      rng_(rng),
      jobs_(world.workload().jobs.size()),
      buckets_({.buckets = options.buckets}) {
  for (const Profile& profile : belief_.profiles) {
    JobSpec& spec = specs_.emplace_back();
    spec.profile = profile;
    spec.policy = options_.policy;
    if (!belief_.targets.empty()) spec.target = belief_.targets[specs_.size() - 1];
  }
  const std::vector<SimServer>& servers = world_.servers();
  std::vector<ServerUpdate> updates;
  for (ServerNumber number = 0; number < servers.size(); ++number) {
    Server& server = servers_.emplace_back();
    server.facts.name = "s" + std::to_string(number);
    server.facts.platform = platformName(servers[number].platform);
    server.facts.rack = "r" + std::to_string(number / 40);
    server.facts.rus = servers[number].units;
    server.status = {.version = 1, .up = true, .free = RuSet::all(servers[number].units)};
    for (const SimResident& resident : servers[number].residents) {
      const Profile& profile = belief_.profiles[resident.application];
      occupy(server.status, server.residents,
             {.allocation = 0,
              .rus = server.status.free.first(resident.rus),
              .caused = profile.caused,
              .tolerated = profile.tolerated},
             shareOf(number));
    }
    if (!belief_.backgrounds.empty()) server.status.background = belief_.backgrounds[number];
    updates.push_back({.id = number, .facts = server.facts, .status = server.status});
  }
  for (uint32_t i = 0; i < options_.agents; ++i) {
    Agent& agent = agents_.emplace_back();
    agent.state.setContention(options_.settings.contention);
    for (size_t p = 0; p < belief_.shares.size(); ++p) {
      agent.state.setShare(platformName(p), belief_.shares[p]);
    }
    for (const ServerUpdate& update : updates) agent.state.apply(update);
    agent.likely.updateAll(agent.state);
    agent.isStale.resize(servers.size());
  }
  for (ServerNumber number = 0; number < servers.size(); ++number) {
    Vacancy vacancy = vacancyOf(servers_[number].status, servers[number].units, shareOf(number),
                                options_.settings.contention);
    vacancy.platform = servers[number].platform;
    buckets_.update(number, vacancy, MonotonicTime{});
  }
  while (buckets_.step(kStep)) continue;
}

Agents::~Agents() = default;

const Share& Agents::shareOf(ServerNumber server) const {
  return belief_.shares[world_.servers()[server].platform];
}

const JobSpec& Agents::specOf(JobNumber number) {
  const SimJob& job = world_.job(number);
  JobSpec& spec = specs_[job.application];
  spec.tasks = job.tasks;
  spec.rusPerTask = job.rus;
  spec.maxWait = job.maxWait;
  return spec;
}

void Agents::jobArrived(JobNumber number) {
  Job& job = jobs_[number];
  job.queued.resize(world_.job(number).tasks);
  for (TaskIndex i = 0; i < job.queued.size(); ++i) job.queued[i] = i;
  submit(number);
}

void Agents::taskEnded(TaskNumber task, ServerNumber server) {
  world_.send(options_.oneWay, {.kind = kEndHeard, .a = task, .b = server});
}

void Agents::received(const Message& message) {
  switch (message.kind) {
    case kAgentFree:
      agents_[message.a].busy = false;
      return decideNext(message.a);
    case kCommitArrives:
      return check(message.a);
    case kAnswered:
      return answered(message.a);
    case kStart:
      return world_.start(message.a, message.b);
    case kEndHeard: {
      Server& server = servers_[message.b];
      vacate(server.status, server.residents, allocationOf(message.a), server.facts, shareOf(message.b));
      serverChanged(message.b);
      improved_ = true;
      return wakeSoon();
    }
    case kWake:
      return wake();
    case kBoundReached: {
      Job& job = jobs_[message.a];
      if (!job.waitingSince || job.timesWaited != message.b) return;
      job.late = true;
      if (job.waits) {
        waiting_.erase({-world_.job(message.a).priority, message.a});
        job.waits = false;
        submit(message.a);
      }
      return;
    }
  }
}

// --- Agents

void Agents::submit(JobNumber job) {
  jobs_[job].submitted = world_.now();
  const uint32_t agent = agentOf(job);
  agents_[agent].toDecide.push_back(job);
  if (!agents_[agent].busy) decideNext(agent);
}

void Agents::decideNext(uint32_t number) {
  Agent& agent = agents_[number];
  if (agent.toDecide.empty()) return;
  const JobNumber jobNumber = agent.toDecide.front();
  agent.toDecide.pop_front();
  catchUp(agent);
  Job& job = jobs_[jobNumber];
  Decision decision = decide(agent, jobNumber);
  const Duration took = timeOf(decision);
  ++counts_.decisions;
  counts_.decisionMicros.push_back(static_cast<float>((world_.now() + took - job.submitted).count()));
  agent.busy = true;
  world_.send(took, {.kind = kAgentFree, .a = number});
  if (decision.claims.empty()) return wait(jobNumber);

  if (unusedCommits_.empty()) {
    unusedCommits_.push_back(static_cast<uint32_t>(commits_.size()));
    commits_.emplace_back();
  }
  const uint32_t commitNumber = unusedCommits_.back();
  unusedCommits_.pop_back();
  Commit& commit = commits_[commitNumber];
  commit.job = jobNumber;
  commit.agent = number;
  commit.judging = judgingFor(specOf(jobNumber), options_.settings);
  commit.judging.margin = decision.explanation.margin;
  commit.claims = std::move(decision.claims);
  commit.overlays.clear();
  for (const Claim& claim : commit.claims) {
    commit.overlays.push_back(agent.state.layOver(claim.server, claim.preferred, specOf(jobNumber).profile));
    agent.noteChange(claim.server);
    std::erase(job.queued, claim.task);
  }
  world_.send(took + options_.oneWay, {.kind = kCommitArrives, .a = commitNumber});
}

// As an agent is told.
QualitySettings Agents::settingsNow() const {
  QualitySettings settings = options_.settings;
  if (isCrowded(waiting_.size() + 1, servers_.size())) settings.margin = 0;
  return settings;
}

// As AgentLogic makes an attempt.
Decision Agents::decide(Agent& agent, JobNumber number) {
  QualitySettings settings = settingsNow();
  Decision decision = decideBy(agent, number, settings);
  const bool holdsOut = holdsOutForMargin(specOf(number));
  if (decision.claims.size() == jobs_[number].queued.size() || holdsOut || settings.margin == 0)
    return decision;
  settings.margin = 0;
  return decideBy(agent, number, settings);
}

Decision Agents::decideBy(Agent& agent, JobNumber number, const QualitySettings& settings) {
  const Job& job = jobs_[number];
  const JobSpec& spec = specOf(number);
  const size_t slots = agent.state.freeUnits() / spec.rusPerTask;
  const size_t wanted = std::min({job.queued.size(), slots, kTasksPerCommit});
  if (wanted == 0) return {};
  PlacementRequest request{.spec = spec, .tasks = {}, .placedOn = {}};
  for (size_t i = 0; i < wanted; ++i) request.tasks.push_back({.index = job.queued[i], .attempt = 0});
  request.standard = job.late ? Standard::kBestThereIs : Standard::kAcceptable;
  request.candidates = 0;
  const uint64_t seed = rng_();
  if (options_.policy == Policy::kGreedy) {
    const auto most =
        options_.decision.bound ? *options_.decision.bound / options_.decision.perSlot : INT64_MAX;
    if (static_cast<int64_t>(slots) > most) {
      JobSpec sampled = spec;
      sampled.policy = Policy::kQuality;
      QualitySettings bounded = settings;
      bounded.ratio = std::max<uint32_t>(1, static_cast<uint32_t>(most / static_cast<int64_t>(wanted)));
      const PlacementRequest cheaper{.spec = sampled,
                                     .tasks = request.tasks,
                                     .placedOn = {},
                                     .standard = request.standard,
                                     .candidates = 0};
      return agent.chooser.choose(agent.state, cheaper, bounded, seed);
    }
    return agent.chooser.choose(agent.state, request, settings, seed);
  }
  Decision decision = agent.chooser.choose(agent.state, request, settings, seed);
  const Explanation& explained = decision.explanation;
  if (!job.late && !explained.enoughFound && !explained.allSeen) {
    Rng likelyRng(seed);
    agent.bringLikelyUpToDate();
    request.besides = agent.likely.draw(agent.state, spec, settings, explained.most, likelyRng);
    if (!request.besides.empty()) {
      decision = agent.chooser.choose(agent.state, request, settings, seed);
    }
  }
  return decision;
}

Duration Agents::timeOf(const Decision& decision) const {
  const DecisionTime& time = options_.decision;
  const auto looking = std::chrono::ceil<Duration>(time.perSlot * decision.explanation.drawn);
  return time.fixed + (time.bound ? std::min(looking, *time.bound) : looking);
}

void Agents::Agent::noteChange(ServerId server) {
  if (isStale[server]) return;
  isStale[server] = true;
  stale.push_back(server);
}

void Agents::Agent::bringLikelyUpToDate() {
  for (ServerId server : stale) {
    likely.update(state, server);
    isStale[server] = false;
  }
  stale.clear();
}

// What the master had made durable one way ago has arrived.
void Agents::catchUp(Agent& agent) {
  while (agent.read < logBegin_ + log_.size()) {
    const Change& change = log_[agent.read - logBegin_];
    if (change.durable + options_.oneWay > world_.now()) break;
    agent.state.apply(change.update);
    agent.noteChange(change.update.id);
    ++agent.read;
  }
}

void Agents::answered(uint32_t number) {
  Commit& commit = commits_[number];
  Agent& agent = agents_[commit.agent];
  Job& job = jobs_[commit.job];
  for (ClusterState::OverlayId overlay : commit.overlays) agent.state.lift(overlay);
  for (const ServerUpdate& update : commit.servers) agent.state.apply(update);
  bool refused = false;
  for (size_t i = 0; i < commit.claims.size(); ++i) {
    const Claim& claim = commit.claims[i];
    agent.noteChange(claim.server);
    if (commit.granted[i]) {
      const TaskNumber task = world_.job(commit.job).firstTask + claim.task;
      world_.send(options_.oneWay, {.kind = kStart, .a = task, .b = claim.server});
    } else {
      refused = true;
      ++counts_.conflicts;
      job.queued.push_back(claim.task);
    }
  }
  unusedCommits_.push_back(number);
  if (!refused) {
    job.replans = 0;
    // Others of its kind may find places too.
    if (job.waitingSince) wakeSoon();
    job.waitingSince.reset();
    job.late = false;
  }
  if (job.queued.empty()) return;
  if (refused && job.replans++ < kReplans) return submit(commit.job);
  job.replans = 0;
  wait(commit.job);
}

// --- Master

void Agents::check(uint32_t number) {
  Commit& commit = commits_[number];
  const SimJob& job = world_.job(commit.job);
  const JobSpec& spec = specOf(commit.job);
  commit.granted.assign(commit.claims.size(), false);
  commit.servers.clear();
  for (size_t i = 0; i < commit.claims.size(); ++i) {
    const Claim& claim = commit.claims[i];
    Server& server = servers_[claim.server];
    const Share& share = shareOf(claim.server);
    if (checkClaim(claim, commit.judging, spec, server.facts, server.status, share) == Verdict::kGranted) {
      const bool asAsked = std::all_of(claim.preferred.begin(), claim.preferred.end(),
                                       [&server](RuIndex ru) { return server.status.free.contains(ru); });
      occupy(server.status, server.residents,
             {.allocation = allocationOf(job.firstTask + claim.task),
              .rus = asAsked ? claim.preferred : server.status.free.first(claim.rus),
              .caused = spec.profile.caused,
              .tolerated = spec.profile.tolerated},
             share);
      commit.granted[i] = true;
      serverChanged(claim.server);
    }
    commit.servers.push_back({.id = claim.server, .facts = std::nullopt, .status = server.status});
  }
  world_.send(options_.durable + options_.oneWay, {.kind = kAnswered, .a = number});
}

void Agents::serverChanged(ServerNumber number) {
  const Server& server = servers_[number];
  log_.push_back(
      {world_.now() + options_.durable, {.id = number, .facts = std::nullopt, .status = server.status}});
  // What every agent has read is forgotten now and then.
  constexpr size_t kMaxLog = 1 << 14;
  if (log_.size() > kMaxLog) {
    for (Agent& agent : agents_) catchUp(agent);
    const auto least = std::min_element(agents_.begin(), agents_.end(),
                                        [](const Agent& a, const Agent& b) { return a.read < b.read; });
    log_.erase(log_.begin(), log_.begin() + static_cast<std::ptrdiff_t>(least->read - logBegin_));
    logBegin_ = least->read;
  }
  Vacancy vacancy = vacancyOf(server.status, server.facts.rus, shareOf(number), options_.settings.contention);
  vacancy.platform = world_.servers()[number].platform;
  buckets_.update(number, vacancy, MonotonicTime(world_.now()));
  buckets_.step(kStep);
}

void Agents::wait(JobNumber number) {
  Job& job = jobs_[number];
  const SimJob& simJob = world_.job(number);
  resting_.insert(kindOf(number));
  job.waits = true;
  const bool wasCrowded = isCrowded(waiting_.size(), servers_.size());
  waiting_.emplace(-simJob.priority, number);
  if (!wasCrowded && isCrowded(waiting_.size(), servers_.size()) && options_.settings.margin > 0) {
    improved_ = true;  // what found no place by the margin may find one without it
    wakeSoon();
  }
  if (job.waitingSince) return;
  job.waitingSince = world_.now();
  const auto bound = boundOf(specOf(number), static_cast<uint32_t>(job.queued.size()));
  world_.send(bound.value_or(simJob.maxWait.value_or(options_.waitBound)),
              {.kind = kBoundReached, .a = number, .b = ++job.timesWaited});
}

// As Forecast of the master tells it.
std::optional<Duration> Agents::boundOf(const JobSpec& spec, uint32_t slots) {
  const Judging judging = judgingToWaitBy(spec, options_.settings);
  std::vector<Newcomer> newcomers;
  double best = 0;
  for (size_t p = 0; p < belief_.shares.size(); ++p) {
    const double factor = platformFactor(spec.profile, platformName(p));
    best = std::max(best, factor);
    newcomers.push_back(newcomer(viewOn(spec.profile, belief_.shares[p], factor), judging, spec.rusPerTask));
  }
  const Suitor suitor{.newcomers = newcomers,
                      .least = spec.target.value_or(options_.settings.target) * best,
                      .rus = spec.rusPerTask};
  const Wish wish{.slots = slots, .ahead = static_cast<double>(waiting_.size() - 1), .maxWait = spec.maxWait};
  buckets_.advance(MonotonicTime(world_.now()));
  const Admission admission = admit(buckets_, suitor, wish, {.headroom = 0}, matching_);
  if (admission.verdict == Admit::kBestThereIs) return Duration::zero();
  return admission.verdict == Admit::kQueue ? admission.bound : std::nullopt;
}

void Agents::wakeSoon() {
  if (wakes_ || waiting_.empty()) return;
  wakes_ = true;
  world_.send(options_.durable + options_.oneWay, {.kind = kWake});
}

// A turn for the first of each kind.
void Agents::wake() {
  wakes_ = false;
  if (std::exchange(improved_, false)) resting_.clear();
  std::set<KindOfJob> turns;
  for (auto it = waiting_.begin(); it != waiting_.end() && turns.size() < kTurnsPerWake;) {
    const JobNumber number = it->second;
    if (resting_.contains(kindOf(number)) || !turns.insert(kindOf(number)).second) {
      ++it;
      continue;
    }
    it = waiting_.erase(it);
    jobs_[number].waits = false;
    submit(number);
  }
}

}  // namespace tarcil::sim
