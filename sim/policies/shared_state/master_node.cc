#include "sim/policies/shared_state/master_node.h"

#include <algorithm>
#include <utility>

namespace tarcil::sim {
namespace {

// Whether anybody in the simulation hears of it: nothing is watched, moved or preempted there.
bool isHeard(const master::Action& action) {
  return std::holds_alternative<master::AnswerCommit>(action) ||
         std::holds_alternative<master::PublishServer>(action) ||
         std::holds_alternative<master::PublishQueue>(action) ||
         std::holds_alternative<master::AssignJob>(action) ||
         std::holds_alternative<master::OfferJobs>(action);
}

}  // namespace

MasterNode::MasterNode(Network& network, FeedLog& feed, SessionId firstAgent, const Options& options,
                       StoreContents stored, Rng rng)
    : network_(network),
      feed_(feed),
      firstAgent_(firstAgent),
      options_(options),
      rng_(rng),
      logic_(options.logic, std::move(stored), network.clock(), rng_, actions_),
      alarm_(network, Mail::kMasterAlarm, 0) {}

void MasterNode::prepare(const master::Event& event) {
  logic_.handle(event, network_.clock(), rng_, actions_);
}

void MasterNode::begin() {
  master::PublishQueue queue;
  for (const master::Action& action : actions_) {
    if (const auto* wake = std::get_if<master::WakeAt>(&action)) alarm_.set(wake->when);
    if (const auto* published = std::get_if<master::PublishQueue>(&action)) queue = *published;
  }
  actions_.clear();
  news_ = std::make_unique<AgentNews>(logic_, network_.clock().steady, options_.buckets);
  news_->take(queue);
}

void MasterNode::handle(const master::Event& event) {
  actions_.clear();
  logic_.handle(event, network_.clock(), rng_, actions_);
  carryOut();
}

void MasterNode::alarm(uint32_t setting) {
  if (alarm_.rings(setting)) handle(master::TimerFired{});
}

// Durable before visible: what leaves waits until everything persisted before it is on disk, in order.
void MasterNode::carryOut() {
  std::vector<master::Action> outputs;
  bool writes = false;
  for (master::Action& action : actions_) {
    if (std::holds_alternative<master::Persist>(action)) {
      writes = true;
    } else if (const auto* wake = std::get_if<master::WakeAt>(&action)) {
      alarm_.set(wake->when);
    } else if (isHeard(action)) {
      outputs.push_back(std::move(action));
    }
  }
  if (writes) syncedBy_ = network_.now() + options_.durable;
  if (outputs.empty()) return;
  const Duration wait = std::max(Duration::zero(), syncedBy_ - network_.now());
  network_.send(wait, Mail::kReleased, outputs_.put(std::move(outputs)));
}

void MasterNode::released(uint32_t outputs) {
  for (master::Action& action : outputs_.take(outputs)) release(action);
}

void MasterNode::release(master::Action& action) {
  const MonotonicTime now = network_.clock().steady;
  const SimTime arrives = network_.now() + network_.oneWay();
  if (auto* commit = std::get_if<master::AnswerCommit>(&action)) {
    network_.toAgent(agentOf(sessionOf(commit->request)), agent::CommitAnswered{std::move(commit->answer)});
  } else if (const auto* server = std::get_if<master::PublishServer>(&action)) {
    feed_.add(arrives, std::move(news_->take(*server, now).updates.front()));
  } else if (const auto* queue = std::get_if<master::PublishQueue>(&action)) {
    feed_.add(arrives, news_->take(*queue));
    network_.send(network_.oneWay(), Mail::kQueueNews);
  } else if (auto* job = std::get_if<master::AssignJob>(&action)) {
    network_.toAgent(agentOf(job->session), agent::JobAssigned{std::move(job->assignment)});
  } else if (const auto* offers = std::get_if<master::OfferJobs>(&action)) {
    network_.toAgent(agentOf(offers->session), news_->offers(*offers, now));
  }
}

}  // namespace tarcil::sim
