#include "sim/policies/shared_state/shared_state.h"

#include <algorithm>
#include <utility>

namespace tarcil::sim {
namespace {

constexpr SessionId kResidents = 1;
constexpr SessionId kMonitor = 2;
constexpr SessionId kFirstAgent = 3;

constexpr size_t kFeedEntries = 1 << 12;

// Nobody asks for jobs that are over, and as many may wait as the workload has.
MasterNode::Options masterOptions(const SharedStateOptions& options) {
  MasterNode::Options master;
  master.logic.keepFinishedJobs = 0;
  master.logic.keepFinishedFor = Duration::zero();
  master.logic.maxUnfinishedOfUser = master.logic.maxUnfinished = UINT32_MAX;
  // No agent is away, and one that decides as slowly as the scenario says is to be waited for.
  master.logic.offerTimeout = std::chrono::hours(24);
  master.buckets.buckets = options.buckets;
  master.durable = options.durable;
  return master;
}

AgentOptions agentOptions(const SharedStateOptions& options) {
  AgentOptions agent;
  agent.maxWaitingJobs = UINT32_MAX;
  agent.waitBound = options.waitBound;
  return agent;
}

std::string agentName(uint32_t number) {
  return "agent-" + std::to_string(number);
}

}  // namespace

SharedState::SharedState(World& world, const Belief& belief, const SharedStateOptions& options, Rng rng)
    : world_(world),
      network_(world, options.oneWay),
      specs_(world, belief, options.policy),
      master_(network_, feed_, kFirstAgent, masterOptions(options),
              storedSetup(world, belief, options.settings), Rng(rng())),
      allocations_(world.workload().work.size()),
      feedLimit_(kFeedEntries) {
  master_.prepare(monitorOf(world, kMonitor));
  if (!belief.backgrounds.empty()) master_.prepare(backgroundsOf(belief, kMonitor));
  // Their owner stays, so that its jobs are not given to others.
  master_.prepare(master::AgentAttached{0, kResidents, "residents", 0, ""});
  for (Commit& commit : residentCommits(world, belief)) {
    master_.prepare(
        master::CommitArrived{requestOf(kResidents, commit.sequence), kResidents, std::move(commit)});
  }
  for (uint32_t i = 0; i < options.agents; ++i) {
    master_.prepare(master::AgentAttached{0, kFirstAgent + i, agentName(i), 0, ""});
  }
  master_.begin();
  const std::vector<agent::Event> snapshot = master_.snapshot();
  for (uint32_t i = 0; i < options.agents; ++i) {
    agents_.emplace_back(i, kFirstAgent + i, AgentNode::Surroundings{network_, feed_, *this, counts_},
                         agentOptions(options), options.decision, Rng(rng()));
    agents_.back().attach(1, snapshot);
  }
}

void SharedState::jobArrived(JobNumber job) {
  agents_[job % agents_.size()].arrive(
      agent::SubmitArrived{job, specs_.userOf(job), idOf(job), specs_.of(job), {}});
}

void SharedState::taskEnded(TaskNumber task, ServerNumber) {
  TaskReport report;
  report.allocation = allocations_[task];
  report.ended = true;
  report.end.ended = network_.clock().wall;
  network_.toMaster({}, master::ReportsArrived{requestOf(kMonitor, task), kMonitor, {std::move(report)}});
}

void SharedState::received(const Message& message) {
  switch (static_cast<Mail>(message.kind)) {
    case Mail::kToMaster:
      return master_.handle(network_.takeForMaster(message.a));
    case Mail::kToAgent:
      return agents_[message.a].arrive(network_.takeForAgent(message.b));
    case Mail::kLaunch:
      world_.start(message.a, message.b);
      return network_.toAgent(message.c, agent::LaunchAnswered{allocations_[message.a],
                                                               agent::LaunchAnswered::Outcome::kAccepted});
    case Mail::kReleased:
      master_.released(message.a);
      if (feed_.size() > feedLimit_) shortenFeed();
      return;
    case Mail::kQueueNews:
      for (AgentNode& agent : agents_) {
        if (agent.waitsForNews()) agent.arrive();
      }
      return;
    case Mail::kMasterAlarm:
      return master_.alarm(message.b);
    case Mail::kAgentAlarm:
      return agents_[message.a].alarm(message.b);
    case Mail::kAgentIsFree:
      return agents_[message.a].isFree();
  }
}

// A monitor that gets a launch twice starts the task once.
void SharedState::launch(uint32_t agent, Duration after, const LaunchSpec& spec) {
  const TaskNumber task = world_.job(numberOf(spec.job)).firstTask + spec.task;
  if (std::exchange(allocations_[task], spec.allocation) == spec.allocation) return;
  network_.send(after + network_.oneWay(), Mail::kLaunch, task, serverNamed(spec.server), agent);
}

// Every agent reads what has arrived; those that are busy do when they are free.
void SharedState::shortenFeed() {
  size_t read = SIZE_MAX;
  for (AgentNode& agent : agents_) {
    agent.arrive();
    read = std::min(read, agent.read());
  }
  feed_.forgetBefore(read);
  feedLimit_ = feed_.size() + kFeedEntries;
}

}  // namespace tarcil::sim
