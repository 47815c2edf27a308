#include "sim/faults/virtual_cluster.h"

#include <algorithm>

#include "master/logic/jobs/upload_table.h"

namespace tarcil::sim {
namespace {

// More than the messages of an attachment take.
constexpr Duration kSettling = std::chrono::milliseconds(100);
// The first of several masters leads by then, too.
constexpr Duration kElection = std::chrono::seconds(2);
// A client that nobody can answer asks again within so long. Longer: fewer vain steps while a master is away.
constexpr Duration kClientRetry = std::chrono::seconds(2);
constexpr uint32_t kRequestsWithoutMaster = 10;
// By then every agent has attached to a master that was started anew.
constexpr Duration kOldMastersWord = std::chrono::minutes(2);
// One that is told that the cluster is busy tries again so much later (kTryAgain).
constexpr Duration kBusyRetry = std::chrono::seconds(10);
// A supervisor starts again what has ended.
constexpr Duration kSupervisor = std::chrono::milliseconds(500);
// A master measures its disk so often.
constexpr Duration kMeasurePeriod = std::chrono::seconds(1);

const Caller kAlice{"alice", Role::kSubmit, {"alice"}};
const Caller kOperator{"root", Role::kOperate, {}};

std::vector<ServerFacts> serversOf(const VirtualClusterOptions& options, uint32_t monitor,
                                   const std::string& address) {
  std::vector<ServerFacts> servers;
  if (!options.servers.empty()) {
    servers = options.servers[monitor];
  } else {
    for (uint32_t i = 0; i < options.serversPerMonitor; ++i) {
      ServerFacts facts;
      facts.name = "s" + std::to_string(monitor * options.serversPerMonitor + i);
      facts.platform = "reference";
      facts.rack = address;
      facts.rus = facts.cores = options.rusPerServer;
      facts.memoryBytes = uint64_t{options.rusPerServer} << 30;
      servers.push_back(std::move(facts));
    }
  }
  for (ServerFacts& facts : servers) {
    facts.address = address;
    facts.emulated = true;
  }
  return servers;
}

}  // namespace

VirtualCluster::VirtualCluster(const VirtualClusterOptions& options)
    : world_(options.seed, options.log), tasks_(world_), checked_(world_, tasks_), masterAway_(kSupervisor) {
  if (options.mastersOnEtcd > 0) etcd_.emplace(world_, checked_.store, options.etcdBug);
  makeMasters(options);
  startRoles(options);
  run(etcd_ ? kElection : kSettling);
}

void VirtualCluster::makeMasters(const VirtualClusterOptions& options) {
  const auto finished = [this](const JobId& job, RunState) {
    if (const auto client = clients_.find(job); client != clients_.end()) client->second.told = true;
  };
  for (uint32_t i = 0; i < std::max(options.mastersOnEtcd, 1U); ++i) {
    const std::string name = etcd_ ? "master-" + std::to_string(i) : "master";
    const auto stopped = [this, i] {
      world_.after(std::exchange(masterAway_, kSupervisor), [this, i] { startMaster(*masters_[i]); });
    };
    masters_.push_back(std::make_unique<MasterProcess>(
        world_, tasks_, name, MasterProcess::Place{checked_, etcd_ ? &*etcd_ : nullptr}, options.master,
        finished, stopped));
  }
}

void VirtualCluster::startRoles(const VirtualClusterOptions& options) {
  std::map<std::string, MonitorProcess*> directory;
  const auto monitors =
      options.servers.empty() ? options.monitors : static_cast<uint32_t>(options.servers.size());
  for (uint32_t i = 0; i < monitors; ++i) {
    const std::string name = "monitor-" + std::to_string(i);
    monitors_.push_back(std::make_unique<MonitorProcess>(
        world_, masters_, checked_, tasks_, name, serversOf(options, i, name),
        [this, i] { world_.after(kSupervisor, [this, i] { monitors_[i]->start(); }); }));
    directory[name] = monitors_.back().get();
  }
  const AgentProcess::Directory monitorAt = [directory](const std::string& address) {
    const auto found = directory.find(address);
    return found == directory.end() ? nullptr : found->second;
  };
  for (uint32_t i = 0; i < options.agents; ++i) {
    const std::string name = "agent-" + std::to_string(i);
    agents_.push_back(
        std::make_unique<AgentProcess>(world_, masters_, name, options.agent, monitorAt, [this, i] {
          world_.after(kSupervisor, [this, i] {
            if (!agents_[i]->alive()) agents_[i]->start();
          });
        }));
    doubles_.push_back(
        std::make_unique<AgentProcess>(world_, masters_, name, options.agent, monitorAt, [] {}));
  }
  for (auto& master : masters_) startMaster(*master);
  for (auto& monitor : monitors_) monitor->start();
  for (auto& agent : agents_) agent->start();
}

// A store cannot even be opened on a disk that is full.
void VirtualCluster::startMaster(MasterProcess& master) {
  if (!etcd_ && master.disk().freeBytes() == 0)
    return world_.after(kSupervisor, [this, &master] { startMaster(master); });
  master.start([this] { masterAccepts(); });
}

MasterProcess& VirtualCluster::master() const {
  MasterProcess* leader = masters_.front().get();
  for (const auto& master : masters_) {
    if (master->alive() && (!leader->alive() || master->term() > leader->term())) leader = master.get();
  }
  return *leader;
}

// Whoever asks may ask one that does not lead any more.
MasterProcess& VirtualCluster::anyMaster() {
  if (masters_.size() == 1) return *masters_.front();
  std::vector<MasterProcess*> accepting;
  for (const auto& master : masters_) {
    if (master->accepts()) accepting.push_back(master.get());
  }
  return accepting.empty() ? *masters_.front() : *accepting[world_.rng().below(accepting.size())];
}

bool VirtualCluster::anyMasterAccepts() const {
  return std::ranges::any_of(masters_, [](const auto& master) { return master->accepts(); });
}

// --- Clients and operators --------------------------------------------------------------------------------

JobId VirtualCluster::submit(const JobSpec& spec, uint32_t agent, std::vector<InputFile> files,
                             const std::string& user) {
  Client client;
  client.caller = kAlice;
  client.caller.user = user;
  for (uint8_t& byte : client.job.record.id.bytes) byte = static_cast<uint8_t>(world_.rng().below(256));
  client.job.record.spec = spec;
  if (!files.empty()) {
    client.job.files = std::make_shared<const std::vector<InputFile>>(std::move(files));
  }
  client.agent = agent;
  const JobId id = client.job.record.id;
  clients_.emplace(id, std::move(client));
  open_.push_back(id);
  submit(id, agent);
  return id;
}

void VirtualCluster::submitAgain(const JobId& job, uint32_t agent) {
  submit(job, agent);
}

void VirtualCluster::submit(const JobId& job, uint32_t agent) {
  ++clients_.at(job).underWay;
  request(job, agent);
}

void VirtualCluster::request(const JobId& job, uint32_t agent) {
  ++clients_.at(job).requests;
  world_.after(world_.delay(), [this, job, agent, restores = restores_] {
    const Client& client = clients_.at(job);
    agents_[agent]->submit(client.caller, client.job, [this, job, restores](const Status& status) {
      world_.after(world_.delay(), [this, job, status, restores] { answered(job, status, restores); });
    });
  });
}

void VirtualCluster::answered(const JobId& job, const Status& status, uint64_t restores) {
  Client& client = clients_.at(job);
  const bool isStored = stored().stateOf(job).has_value();
  const bool isOfBefore = restores != restores_;
  const bool isUnknown = !status.ok() && (status.error().code == ErrorCode::kUnavailable || isOfBefore);
  if (isUnknown && !client.answered) {
    client.agent = (client.agent + 1) % agents();
    const auto again = [this, job] { request(job, clients_.at(job).agent); };
    // Agents hear of it a few times while they have no master, too.
    return client.requests > kRequestsWithoutMaster ? askAgain(again)
                                                    : world_.after(world_.upTo(kClientRetry), again);
  }
  if (!status.ok() && !client.answered && client.requests == 1 && stored().has(job)) {
    world_.violated("a client was refused job " + toString(job).substr(0, 8) + ", which is there");
  }
  const bool isBusy = !status.ok() && status.error().code == ErrorCode::kExhausted;
  if (isBusy && !client.answered && !client.givesUp) {
    world_.note("client", "tries again later: " + status.error().message);
    world_.after(kBusyRetry, [this, job] { request(job, clients_.at(job).agent); });
    return;
  }
  --client.underWay;
  if (isUnknown) return;
  if (status.ok()) {
    // An agent that has not heard of the restored master yet says what was true of the one before.
    const bool isOfOldMaster = restored_ && world_.now().steady < *restored_ + kOldMastersWord;
    if (!isStored && (isOfBefore || isOfOldMaster)) {
      client.isVoid = true;
    } else if (!isStored) {
      world_.violated("a client was told that job " + toString(job).substr(0, 8) +
                      " is taken, and it is not");
    }
    client.answered = true;
  } else if (!client.answered) {
    client.refusal = status.error().message;
    world_.note("client", "is refused: " + client.refusal);
  }
}

void VirtualCluster::ask(const MasterProcess::Request& request, MasterProcess::Answer answer) {
  world_.after(world_.delay(), [this, request, answer] {
    anyMaster().ask(request, [this, request, answer](const Status& status) {
      if (!status && status.error().code == ErrorCode::kUnavailable) {
        askAgain([this, request, answer] { ask(request, answer); });
      } else if (answer) {
        answer(status);
      }
    });
  });
}

// While no master takes connections nobody's asking changes anything: asking every second is most of what a
// run would do.
void VirtualCluster::askAgain(std::function<void()> ask) {
  if (!anyMasterAccepts()) return forMaster_.push_back(std::move(ask));
  world_.after(world_.upTo(kClientRetry), std::move(ask));
}

void VirtualCluster::masterAccepts() {
  if (!anyMasterAccepts()) return;
  for (auto& ask : std::exchange(forMaster_, {})) world_.after(world_.upTo(kClientRetry), std::move(ask));
}

void VirtualCluster::cancel(const JobId& job) {
  const Caller caller = clients_.at(job).caller;
  clients_.at(job).givesUp = true;
  ask(
      [job, caller](RequestId number) -> master::Event {
        return master::CancelRequested{number, job, caller};
      },
      nullptr);
}

void VirtualCluster::steer(const JobId& job, master::JobChange change, uint8_t priority) {
  const Caller caller = clients_.at(job).caller;
  request([job, caller, change, priority](RequestId number) -> master::Event {
    return master::JobSteered{number, caller, job, change, priority};
  });
}

void VirtualCluster::rerun(const JobId& job) {
  checked_.checker.mayRunAgain(job);
  open_.push_back(job);
  ++clients_.at(job).underWay;
  const Caller caller = clients_.at(job).caller;
  ask(
      [job, caller](RequestId number) -> master::Event {
        return master::JobSteered{number, caller, job, master::JobChange::kRerun, 0};
      },
      [this, job](const Status&) { --clients_.at(job).underWay; });
}

void VirtualCluster::addCron(const CronSpec& cron, const std::string& user) {
  Caller caller = kAlice;
  caller.user = user;
  request([cron, caller](RequestId number) -> master::Event {
    return master::CronAdded{number, caller, cron};
  });
}

void VirtualCluster::steerCron(const std::string& user, const std::string& name, master::CronChange change) {
  Caller caller = kAlice;
  caller.user = user;
  JobId job;
  for (uint8_t& byte : job.bytes) byte = static_cast<uint8_t>(world_.rng().below(256));
  request([=](RequestId number) -> master::Event {
    return master::CronSteered{number, caller, user, name, change, job};
  });
}

void VirtualCluster::steer(std::vector<std::string> servers, master::ServerChange change, Duration deadline) {
  steers_.push_back({std::move(servers), change, deadline});
  if (steers_.size() == 1) steerNext();
}

void VirtualCluster::steerNext() {
  const Steer& steer = steers_.front();
  const auto request = [steer](RequestId number) -> master::Event {
    return master::ServersSteered{number, kOperator, steer.servers, steer.change, steer.deadline};
  };
  ask(request, [this, restores = restores_](const Status& status) {
    const Steer done = std::move(steers_.front());
    steers_.pop_front();
    const bool isRemoval = done.change == master::ServerChange::kRemove;
    const bool isCordoned = done.change != master::ServerChange::kUncordon;
    for (const std::string& server : done.servers) {
      if (!status || isRemoval || restores != restores_ || stored().isCordoned(server) == isCordoned)
        continue;
      world_.violated("an operator was told that " + server +
                      (isCordoned ? " is cordoned" : " is not cordoned") + ", and that is not stored");
    }
    if (!steers_.empty()) steerNext();
  });
}

void VirtualCluster::drain(uint32_t monitor, Duration deadline, Duration until) {
  std::vector<std::string> names;
  for (const ServerFacts& server : monitors_[monitor]->servers()) names.push_back(server.name);
  steer(names, master::ServerChange::kDrain, deadline);
  world_.after(until, [this, names] { steer(names, master::ServerChange::kUncordon, {}); });
}

// --- Faults -----------------------------------------------------------------------------------------------

void VirtualCluster::killMaster(Duration away) {
  MasterProcess& leader = master();
  if (!leader.alive()) return;
  leader.crash();
  world_.after(away, [this, &leader] { startMaster(leader); });
}

void VirtualCluster::pauseMaster(Duration duration) {
  if (!master().alive()) return;
  master().pauseFor(duration);
  world_.after(duration, [this] { masterAccepts(); });
}

void VirtualCluster::cutMasterFromEtcd(Duration duration) {
  master().cutFromEtcd(duration);
}

void VirtualCluster::stepMasterDown() {
  if (master().alive()) master().stepDown();
}

void VirtualCluster::failStore(Duration away) {
  if (!master().alive()) return;
  masterAway_ = away;
  master().disk().failNextSync();
}

void VirtualCluster::fillDisk(uint64_t freeBytes, Duration duration) {
  if (master().disk().freeBytes() < MasterDisk::kPlenty) return;
  setFreeBytes(freeBytes);
  world_.after(duration, [this, filling = ++fillings_] {
    if (filling == fillings_) setFreeBytes(MasterDisk::kPlenty);
  });
}

void VirtualCluster::setFreeBytes(uint64_t freeBytes) {
  for (auto& master : masters_) {
    master->disk().setFreeBytes(freeBytes);
    world_.after(world_.upTo(kMeasurePeriod), [&master] { master->measureSpace(); });
  }
}

void VirtualCluster::restartMaster(const MasterOptions& options, Duration away) {
  if (!master().alive()) return;
  for (auto& master : masters_) master->setOptions(options);
  killMaster(away);
}

void VirtualCluster::takeDescriptors(Duration duration) {
  master().runOutOfDescriptors(duration);
  world_.after(duration, [this] { masterAccepts(); });
}

void VirtualCluster::exhaustMaster(Duration within) {
  if (master().alive()) master().oomKiller().watch(world_.now().steady + within);
}

void VirtualCluster::exhaustAgent(uint32_t agent, Duration within) {
  if (agents_[agent]->alive()) agents_[agent]->oomKiller().watch(world_.now().steady + within);
}

void VirtualCluster::exhaustMonitor(uint32_t monitor, Duration within) {
  if (monitors_[monitor]->alive()) monitors_[monitor]->oomKiller().watch(world_.now().steady + within);
}

void VirtualCluster::restoreBackup(Duration away) {
  if (!master().alive()) return;
  MasterProcess& restored = master();
  restored.crash();
  ++restores_;
  world_.after(away, [this, &restored] {
    restored.restoreBackup();
    restored_ = world_.now().steady;
    open_.clear();
    for (auto& [id, client] : clients_) {
      if (client.answered && !stored().stateOf(id)) client.isVoid = true;
      open_.push_back(id);
    }
    startMaster(restored);
  });
}

void VirtualCluster::killAgent(uint32_t agent, Duration away) {
  if (!agents_[agent]->alive()) return;
  agents_[agent]->crash();
  world_.after(away, [this, agent] { agents_[agent]->start(); });
}

void VirtualCluster::killAgentMidway(uint32_t agent, Duration away) {
  if (!agents_[agent]->alive()) return;
  agents_[agent]->crashMidway(
      [this, agent, away] { world_.after(away, [this, agent] { agents_[agent]->start(); }); });
}

void VirtualCluster::doubleAgent(uint32_t agent, Duration duration) {
  if (doubles_[agent]->alive()) return;
  doubles_[agent]->start();
  // The first one may not have noticed that nobody listens to it any more.
  world_.after(duration, [this, agent] {
    if (doubles_[agent]->alive()) doubles_[agent]->crash();
    killAgent(agent, kSupervisor);
  });
}

void VirtualCluster::killMonitor(uint32_t monitor, Duration away) {
  if (!monitors_[monitor]->alive()) return;
  monitors_[monitor]->crash();
  world_.after(away, [this, monitor] { monitors_[monitor]->start(); });
}

void VirtualCluster::shutMonitorDown(uint32_t monitor, Duration grace, Duration away) {
  if (!monitors_[monitor]->alive()) return;
  monitors_[monitor]->shutDown(grace);
  // It has ended by itself, or something else has ended it.
  world_.after(grace + std::chrono::seconds(5), [this, monitor, away] { killMonitor(monitor, away); });
}

void VirtualCluster::killMonitorMidway(uint32_t monitor, Duration away) {
  if (!monitors_[monitor]->alive()) return;
  monitors_[monitor]->crashMidway(
      [this, monitor, away] { world_.after(away, [this, monitor] { monitors_[monitor]->start(); }); });
}

void VirtualCluster::loseMachine(uint32_t monitor, Duration away) {
  if (!monitors_[monitor]->alive()) return;
  monitors_[monitor]->lose();
  world_.after(away, [this, monitor] { monitors_[monitor]->start(); });
}

void VirtualCluster::cutAgent(uint32_t agent, Duration duration) {
  world_.note("agent-" + std::to_string(agent), "is cut off");
  agents_[agent]->connection().cutFor(duration);
}

void VirtualCluster::cutMonitor(uint32_t monitor, Duration duration) {
  world_.note("monitor-" + std::to_string(monitor), "is cut off");
  monitors_[monitor]->connection().cutFor(duration);
}

void VirtualCluster::breakAgent(uint32_t agent) {
  agents_[agent]->connection().breakOff();
}

void VirtualCluster::breakMonitor(uint32_t monitor) {
  monitors_[monitor]->connection().breakOff();
}

// Whoever is dead is on its way back.
void VirtualCluster::heal() {
  for (auto& master : masters_) {
    master->mendFeeds();
    master->storage().beSlow({});
    master->runOutOfDescriptors({});
    master->healEtcd();
    master->oomKiller().callOff();
  }
  masterAccepts();
  ++fillings_;
  setFreeBytes(MasterDisk::kPlenty);
  for (auto& agent : agents_) {
    agent->connection().heal();
    agent->oomKiller().callOff();
    agent->crashMidway(nullptr);
  }
  for (auto& twin : doubles_) {
    if (twin->alive()) twin->crash();
  }
  for (auto& monitor : monitors_) {
    monitor->connection().heal();
    monitor->failStarts(0);
    monitor->runOutOfMemory({});
    monitor->oomKiller().callOff();
    monitor->crashMidway(nullptr);
  }
}

// --- Time -------------------------------------------------------------------------------------------------

void VirtualCluster::run(Duration duration) {
  const MonotonicTime until = world_.now().steady + duration;
  while (world_.step(until)) {
  }
}

bool VirtualCluster::runUntilIdle(Duration limit, uint64_t events) {
  const MonotonicTime until = world_.now().steady + limit;
  const uint64_t most = events == UINT64_MAX ? events : world_.events() + events;
  while (!atRest()) {
    if (!world_.step(until) || world_.events() > most) return false;
  }
  return true;
}

bool VirtualCluster::isOver(const JobId& id, const Client& client) const {
  // One that was refused may yet be taken by another agent.
  if (client.underWay > 0) return false;
  if (!client.answered && client.refusal.empty() && !client.isVoid) return false;
  const auto state = stored().stateOf(id);
  if (!state) return !client.refusal.empty() || client.isVoid;
  return isFinal(*state) && (client.told || !stored().has(id));
}

const std::vector<JobId>& VirtualCluster::unfinished() {
  std::erase_if(open_, [this](const JobId& id) { return isOver(id, clients_.at(id)); });
  return open_;
}

// The cheap looks first: this is asked after every step.
bool VirtualCluster::atRest() {
  if (!open_.empty() && !isOver(open_.back(), clients_.at(open_.back()))) return false;
  // What operators still ask for changes which units can be had.
  return unfinished().empty() && steers_.empty() && stored().unfinishedCronJobs().empty() &&
         std::ranges::all_of(monitors_, [](const auto& monitor) { return monitor->idle(); }) && !anyRevived();
}

// An agent may bring a submission to a master whose backup came back when its client has long had an answer.
bool VirtualCluster::anyRevived() {
  for (const auto& [id, client] : clients_) {
    const auto state = stored().stateOf(id);
    if (state && !isFinal(*state)) open_.push_back(id);
  }
  return !open_.empty();
}

void VirtualCluster::expect(bool holds, const std::string& what) {
  if (!holds) world_.violated("at rest: " + what);
}

void VirtualCluster::checkRest() {
  constexpr Duration kWhoeverIsAway = std::chrono::seconds(3);
  run(kWhoeverIsAway);
  master().compareCopies();
  run(kWhoeverIsAway);
  expect(master().alive(), "the master is away");
  if (!master().alive()) return;
  master().check();
  expect(tasks_.running() == 0, std::to_string(tasks_.running()) + " tasks run still");
  expect(stored().tasksHeld() == 0, "tasks are stored that hold units");
  expect(master().logic().load().waiting == 0, "jobs wait");
  if (master().hasUploads()) run(master::kUploadTimeout);
  expect(!master().hasUploads(), "input files are stored that no job has");
  size_t there = 0;
  for (const auto& monitor : monitors_) there += monitor->servers().size();
  expect(master().logic().servers().size() == there, "a server is missing");
  uint64_t usable = 0;
  for (const ServerView& server : master().logic().servers()) {
    expect(server.status.free.size() == server.facts.rus, "units of " + server.facts.name + " are held");
    if (server.status.up && !server.status.cordoned) usable += server.status.free.size();
  }
  for (const auto& agent : agents_) {
    expect(agent->alive(), "an agent is away");
    if (!agent->alive()) continue;
    const AgentLogic::Load load = agent->logic().load();
    expect(load.jobs == 0 && load.commits == 0 && load.submissions == 0,
           "an agent holds " + std::to_string(load.jobs) + " jobs, " + std::to_string(load.commits) +
               " commits and " + std::to_string(load.submissions) + " submissions");
    expect(load.freeUnits == usable, "an agent sees " + std::to_string(load.freeUnits) + " free units, and " +
                                         std::to_string(usable) + " are");
  }
}

// --- What came of it --------------------------------------------------------------------------------------

RunState VirtualCluster::stateOf(const JobId& job) const {
  return stored().stateOf(job).value_or(RunState::kQueued);
}

std::vector<TaskRecord> VirtualCluster::tasksOf(const JobId& job) const {
  return master().logic().job(job)->tasks;
}

uint32_t VirtualCluster::unitsHeld() const {
  uint32_t held = 0;
  for (const ServerView& server : master().logic().servers()) {
    held += server.facts.rus - server.status.free.size();
  }
  return held;
}

uint32_t VirtualCluster::mostStarts() const {
  uint32_t most = 0;
  for (const auto& [task, starts] : world_.starts()) most = std::max(most, starts);
  return most;
}

bool VirtualCluster::allAnswered() const {
  return std::ranges::all_of(clients_, [](const auto& entry) { return entry.second.answered; });
}

bool VirtualCluster::allDone() const {
  return std::ranges::all_of(clients_,
                             [this](const auto& entry) { return stateOf(entry.first) == RunState::kDone; });
}

}  // namespace tarcil::sim
