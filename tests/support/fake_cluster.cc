#include "tests/support/fake_cluster.h"

#include <algorithm>

namespace tarcil {
namespace {

// More than the messages of an attachment take.
constexpr Duration kSettling = std::chrono::milliseconds(100);
constexpr Duration kClientRetry = std::chrono::milliseconds(100);

const Caller kAlice{"alice", Role::kSubmit, {"alice"}};

std::vector<ServerFacts> serversOf(const FakeClusterOptions& options, uint32_t monitor,
                                   const std::string& address) {
  std::vector<ServerFacts> servers;
  for (uint32_t i = 0; i < options.serversPerMonitor; ++i) {
    ServerFacts facts;
    facts.name = "s" + std::to_string(monitor * options.serversPerMonitor + i);
    facts.platform = "reference";
    facts.rack = address;
    facts.rus = facts.cores = options.rusPerServer;
    facts.memoryBytes = uint64_t{options.rusPerServer} << 30;
    facts.address = address;
    facts.emulated = true;
    servers.push_back(std::move(facts));
  }
  return servers;
}

}  // namespace

FakeCluster::FakeCluster(const FakeClusterOptions& options)
    : world_(options.seed), master_(world_, options.master, [this](const JobId& job, RunState state) {
        clients_.at(job).state = state;
      }) {
  std::map<std::string, FakeMonitor*> directory;
  for (uint32_t i = 0; i < options.monitors; ++i) {
    const std::string name = "monitor-" + std::to_string(i);
    monitors_.push_back(std::make_unique<FakeMonitor>(world_, master_, name, serversOf(options, i, name)));
    directory[name] = monitors_.back().get();
  }
  const FakeAgent::Directory monitorAt = [directory](const std::string& address) {
    const auto found = directory.find(address);
    return found == directory.end() ? nullptr : found->second;
  };
  for (uint32_t i = 0; i < options.agents; ++i) {
    agents_.push_back(
        std::make_unique<FakeAgent>(world_, master_, "agent-" + std::to_string(i), options.agent, monitorAt));
  }
  master_.start();
  for (auto& monitor : monitors_) monitor->start();
  for (auto& agent : agents_) agent->start();
  run(kSettling);
}

JobId FakeCluster::submit(const JobSpec& spec, uint32_t agent, std::vector<InputFile> files,
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
  handIn(id);
  return id;
}

void FakeCluster::handIn(const JobId& job) {
  world_.after(world_.delay(), [this, job] {
    const Client& client = clients_.at(job);
    agents_[client.agent]->submit(client.caller, client.job, [this, job](const Status& status) {
      world_.after(world_.delay(), [this, job, status] { answered(job, status); });
    });
  });
}

void FakeCluster::answered(const JobId& job, const Status& status) {
  Client& client = clients_.at(job);
  if (status.ok()) {
    client.answered = true;
  } else if (status.error().code == ErrorCode::kUnavailable) {
    client.agent = (client.agent + 1) % static_cast<uint32_t>(agents_.size());
    world_.after(kClientRetry, [this, job] { handIn(job); });
  } else {
    client.refusal = status.error().message;
    world_.note("client", "is refused: " + client.refusal);
  }
}

void FakeCluster::cancel(const JobId& job) {
  world_.after(world_.delay(), [this, job] {
    if (master_.alive()) return master_.cancel(job, kAlice);
    world_.after(kClientRetry, [this, job] { cancel(job); });
  });
}

void FakeCluster::drain(uint32_t monitor, Duration deadline, Duration until) {
  steer(monitor, master::ServerChange::kDrain, deadline);
  world_.after(until, [this, monitor] { steer(monitor, master::ServerChange::kUncordon, {}); });
}

void FakeCluster::steer(uint32_t monitor, master::ServerChange change, Duration deadline) {
  if (!master_.alive()) {
    world_.after(kClientRetry, [this, monitor, change, deadline] { steer(monitor, change, deadline); });
    return;
  }
  std::vector<std::string> names;
  for (const ServerFacts& server : monitors_[monitor]->servers()) names.push_back(server.name);
  master_.steer(std::move(names), change, deadline);
}

void FakeCluster::killMaster(Duration away) {
  if (!master_.alive()) return;
  master_.crash();
  world_.after(away, [this] { master_.start(); });
}

void FakeCluster::failStore(Duration away) {
  const auto unsynced =
      world_.rng().below(2) == 0 ? FaultyStore::Unsynced::kForgotten : FaultyStore::Unsynced::kKept;
  master_.failNextWrite(unsynced, [this, away] { world_.after(away, [this] { master_.start(); }); });
}

void FakeCluster::killAgent(uint32_t agent, Duration away) {
  if (!agents_[agent]->alive()) return;
  agents_[agent]->crash();
  world_.after(away, [this, agent] { agents_[agent]->start(); });
}

void FakeCluster::killMonitor(uint32_t monitor, Duration away) {
  if (!monitors_[monitor]->alive()) return;
  monitors_[monitor]->crash();
  world_.after(away, [this, monitor] { monitors_[monitor]->start(); });
}

void FakeCluster::loseMachine(uint32_t monitor, Duration away) {
  if (!monitors_[monitor]->alive()) return;
  monitors_[monitor]->lose();
  world_.after(away, [this, monitor] { monitors_[monitor]->start(); });
}

void FakeCluster::cutAgent(uint32_t agent, Duration duration) {
  world_.note("agent-" + std::to_string(agent), "is cut off");
  agents_[agent]->cutFor(duration);
}

void FakeCluster::cutMonitor(uint32_t monitor, Duration duration) {
  world_.note("monitor-" + std::to_string(monitor), "is cut off");
  monitors_[monitor]->cutFor(duration);
}

void FakeCluster::run(Duration duration) {
  const MonotonicTime until = world_.now().steady + duration;
  while (world_.step(until)) {
  }
}

bool FakeCluster::runToRest(Duration limit) {
  const MonotonicTime until = world_.now().steady + limit;
  while (!atRest()) {
    if (!world_.step(until)) return false;
  }
  return true;
}

bool FakeCluster::atRest() const {
  if (!std::all_of(clients_.begin(), clients_.end(), [](const auto& entry) { return entry.second.over(); })) {
    return false;
  }
  return std::all_of(monitors_.begin(), monitors_.end(), [](const auto& monitor) { return monitor->idle(); });
}

RunState FakeCluster::stateOf(const JobId& job) const {
  return clients_.at(job).state;
}

std::vector<TaskRecord> FakeCluster::tasksOf(const JobId& job) const {
  return master_.logic().job(job)->tasks;
}

uint32_t FakeCluster::unitsHeld() const {
  uint32_t held = 0;
  for (const ServerView& server : master_.logic().servers()) {
    held += server.facts.rus - server.status.free.size();
  }
  return held;
}

uint32_t FakeCluster::mostStarts() const {
  uint32_t most = 0;
  for (const auto& [task, starts] : world_.starts()) most = std::max(most, starts);
  return most;
}

bool FakeCluster::allAnswered() const {
  return std::all_of(clients_.begin(), clients_.end(),
                     [](const auto& entry) { return entry.second.answered; });
}

bool FakeCluster::allDone() const {
  return std::all_of(clients_.begin(), clients_.end(),
                     [](const auto& entry) { return entry.second.state == RunState::kDone; });
}

}  // namespace tarcil
