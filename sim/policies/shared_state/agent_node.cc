#include "sim/policies/shared_state/agent_node.h"

#include <algorithm>
#include <utility>

namespace tarcil::sim {
namespace {

// Whether it may lead to a decision.
bool looksAtCopy(const agent::Event& event) {
  return !std::holds_alternative<agent::JobAssigned>(event) &&
         !std::holds_alternative<agent::LaunchAnswered>(event);
}

}  // namespace

AgentNode::AgentNode(uint32_t number, SessionId session, const Surroundings& surroundings,
                     const AgentOptions& options, const DecisionTime& time, Rng rng)
    : number_(number),
      session_(session),
      to_(surroundings),
      time_(time),
      logic_(options),
      rng_(rng),
      alarm_(surroundings.network, Mail::kAgentAlarm, number) {}

void AgentNode::attach(uint64_t epoch, const std::vector<agent::Event>& snapshot) {
  handle(agent::MasterAttached{epoch, {}}, to_.network.now());
  for (const agent::Event& event : snapshot) handle(event, to_.network.now());
}

void AgentNode::arrive(agent::Event event) {
  arrived_.push_back({to_.network.now(), std::move(event)});
  work();
}

void AgentNode::arrive() {
  arrived_.push_back({to_.network.now(), std::nullopt});
  work();
}

void AgentNode::isFree() {
  isFreeSent_ = false;
  work();
}

void AgentNode::alarm(uint32_t setting) {
  if (alarm_.rings(setting)) arrive(agent::TimerFired{});
}

// In the order of arrival; of what arrived at one time, what was published comes first.
void AgentNode::work() {
  const SimTime now = to_.network.now();
  while (!arrived_.empty() && busyUntil_ <= now) {
    const bool looksAtServers = !arrived_.front().event || looksAtCopy(*arrived_.front().event);
    if (looksAtServers && readFeed(arrived_.front().at)) continue;
    const Arrived next = std::move(arrived_.front());
    arrived_.pop_front();
    if (next.event) handle(*next.event, next.at);
  }
  if (arrived_.empty() || isFreeSent_) return;
  isFreeSent_ = true;
  to_.network.send(busyUntil_ - now, Mail::kAgentIsFree, number_);
}

bool AgentNode::readFeed(SimTime by) {
  std::vector<ServerUpdate>& updates = std::get<agent::ServersUpdated>(news_).updates;
  updates.clear();
  const agent::QueueTold* queue = nullptr;
  const size_t before = read_;
  while (const FeedLog::News* news = to_.feed.arrived(read_, by)) {
    ++read_;
    if (const auto* server = std::get_if<ServerUpdate>(news)) {
      if (server->id >= places_.size()) places_.resize(server->id + size_t{1});
      uint32_t& place = places_[server->id];
      if (place < updates.size() && updates[place].id == server->id) {
        updates[place] = *server;
      } else {
        place = static_cast<uint32_t>(updates.size());
        updates.push_back(*server);
      }
    } else {
      queue = std::get_if<agent::QueueTold>(news);
    }
  }
  if (!updates.empty()) handle(news_, by);
  if (queue != nullptr) handle(*queue, by);
  return read_ > before;
}

void AgentNode::handle(const agent::Event& event, SimTime arrived) {
  if (const auto* answered = std::get_if<agent::CommitAnswered>(&event)) {
    for (const Grant& grant : answered->answer.grants) {
      const bool isConflict = grant.verdict != Verdict::kGranted && grant.verdict != Verdict::kTaskNotWaiting;
      to_.counts.conflicts += isConflict ? 1 : 0;
    }
  }
  const AgentLogic::Load before = logic_.load();
  actions_.clear();
  logic_.handle(event, to_.network.clock(), rng_, actions_);
  const AgentLogic::Load after = logic_.load();

  // What each commit took follows from its explanation; of decisions that led to none only the sum is known,
  // and they are counted last. A commit that reports an earlier decision again never makes it more than that
  // sum.
  const SimTime now = to_.network.now();
  const uint64_t decisions = after.decisions - before.decisions;
  const Duration all = time_.of(decisions, after.drawn - before.drawn);
  const auto count = [&](Duration spent) {
    to_.counts.decisionMicros.push_back(static_cast<float>((now + spent - arrived).count()));
  };
  uint64_t committed = 0, drawn = 0;
  for (agent::Action& action : actions_) {
    const auto* commit = std::get_if<agent::SendCommit>(&action);
    const uint32_t slots = commit ? commit->commit.explanation.drawn : 0;
    const bool isDecision = slots > 0 && committed < decisions;
    if (isDecision) {
      ++committed;
      drawn += slots;
    }
    const bool isLast = std::holds_alternative<agent::DeclineOffers>(action);
    const Duration spent = isLast ? all : std::min(time_.of(committed, drawn), all);
    if (isDecision) count(spent);
    carryOut(action, spent);
  }
  if (decisions == 0) return;
  for (uint64_t i = committed; i < decisions; ++i) count(all);
  to_.counts.decisions += decisions;
  busyUntil_ = now + all;
}

void AgentNode::carryOut(agent::Action& action, Duration spent) {
  if (auto* send = std::get_if<agent::SendCommit>(&action)) {
    to_.network.toMaster(
        spent, master::CommitArrived{requestOf(session_, ++requests_), session_, std::move(send->commit)});
  } else if (auto* declined = std::get_if<agent::DeclineOffers>(&action)) {
    to_.network.toMaster(
        spent, master::OffersDeclined{session_, std::move(declined->jobs), std::move(declined->untried)});
  } else if (const auto* start = std::get_if<agent::Launch>(&action)) {
    to_.launcher.launch(number_, spent, start->spec);
  } else if (const auto* wake = std::get_if<agent::WakeAt>(&action)) {
    alarm_.set(wake->when);
  }
  // Nobody waits for the answer to a submission, and copies are never compared.
}

}  // namespace tarcil::sim
