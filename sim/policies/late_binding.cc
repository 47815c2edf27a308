#include "sim/policies/late_binding.h"

#include <algorithm>

namespace tarcil::sim {
namespace {

constexpr late::AgentNumber kAgent = 1;

}  // namespace

LateBinding::LateBinding(World& world, const Belief& belief, const LateBindingOptions& options, Rng rng)
    : world_(world),
      belief_(belief),
      options_(options),
      rng_(rng),
      scheduler_(
          {.probeRatio = options.probeRatio, .adaptRatio = options.adaptRatio, .cancel = options.cancel},
          kAgent),
      places_(world.workload().work.size()) {
  const std::vector<SimServer>& servers = world_.servers();
  uint32_t smallest = UINT32_MAX;
  for (const SimServer& server : servers) {
    if (server.capacity() > 0) smallest = std::min(smallest, server.capacity());
  }
  for (ServerNumber server = 0; server < servers.size(); ++server) {
    const uint32_t units = servers[server].capacity(), nodes = units / smallest;
    for (uint32_t i = 0; i < nodes; ++i) {
      const auto node = static_cast<Node>(serverOf_.size());
      serverOf_.push_back(server);
      scheduler_.serverUp(node);
      queues_.emplace_back(late::QueueOptions{}, node, 1);
      looks_.push_back(MonotonicTime::max());
      if (options.carriesProfiles) {
        queues_.back().setSurroundings({.share = belief.shares[servers[server].platform]}, now(),
                                       wantedByQueue_);
      }
      queues_.back().setSlots(units / nodes + (i < units % nodes ? 1 : 0), now(), wantedByQueue_);
    }
  }
}

void LateBinding::jobArrived(JobNumber number) {
  const SimJob& job = world_.job(number);
  late::LateJob submitted;
  submitted.tasks = job.tasks;
  submitted.priority = job.priority;
  if (options_.carriesProfiles) {
    const Profile& profile = belief_.profiles[job.application];
    submitted.bearing = {profile.caused, profile.tolerated};
  }
  submitted.user = job.stream;
  submitted.shares = job.shares;
  // Servers never go down here, so there always is one.
  const auto own = scheduler_.submit(std::move(submitted), now(), rng_, wanted_);
  jobs_.emplace(*own, number);
  carryOut();
}

void LateBinding::taskEnded(TaskNumber task, ServerNumber) {
  const RunningAt place = places_[task];
  queues_[place.node].taskEnded(place.lease, 0, now(), wantedByQueue_);
  carryOut(place.node);
}

void LateBinding::received(const Message& message) {
  if (message.kind == kLook) {
    const Node node = message.b;
    looks_[node] = MonotonicTime::max();
    queues_[node].advance(now(), wantedByQueue_);
    return carryOut(node);
  }
  unused_.push_back(message.a);
  const Letter letter = letters_[message.a];
  deliver(letter, message.b);
}

void LateBinding::post(const Letter& letter, Node node) {
  if (unused_.empty()) {
    unused_.push_back(static_cast<uint32_t>(letters_.size()));
    letters_.emplace_back();
  }
  const uint32_t place = unused_.back();
  unused_.pop_back();
  letters_[place] = letter;
  world_.send(options_.oneWay, {.kind = kLetter, .a = place, .b = node});
}

void LateBinding::deliver(const Letter& letter, Node node) {
  if (const auto* reserve = std::get_if<late::Reserve>(&letter)) {
    queues_[node].handle(*reserve, now(), wantedByQueue_);
  } else if (const auto* cancel = std::get_if<late::Cancel>(&letter)) {
    queues_[node].handle(*cancel);
  } else if (const auto* give = std::get_if<late::Give>(&letter)) {
    queues_[node].handle(*give, now(), wantedByQueue_);
  } else if (const auto* forget = std::get_if<late::Forget>(&letter)) {
    queues_[node].handle(*forget);
  } else if (const auto* ask = std::get_if<late::Ask>(&letter)) {
    scheduler_.handle(*ask, now(), wanted_);
  } else if (const auto* notStarted = std::get_if<late::NotStarted>(&letter)) {
    scheduler_.handle(*notStarted, now(), rng_, wanted_);
  } else if (const auto* ended = std::get_if<late::Ended>(&letter)) {
    scheduler_.handle(*ended, wanted_);
  }
  carryOut(node);
  carryOut();
}

void LateBinding::carryOut() {
  for (const late::Reserve& reserve : wanted_.reserves) post(reserve, reserve.server);
  for (const late::Cancel& cancel : wanted_.cancels) post(cancel, cancel.server);
  for (const late::Give& give : wanted_.gives) post(give, give.server);
  for (const late::Forget& forget : wanted_.forgets) post(forget, forget.server);
  for (const late::JobOver& over : wanted_.jobsOver) jobs_.erase(over.job);
  wanted_.clear();
}

void LateBinding::carryOut(Node node) {
  for (const late::Ask& ask : wantedByQueue_.asks) post(ask, node);
  for (const late::NotStarted& notStarted : wantedByQueue_.notStarted) post(notStarted, node);
  for (const late::Ended& ended : wantedByQueue_.ended) post(ended, node);
  for (const late::StartTask& start : wantedByQueue_.starts) {
    const TaskNumber task = world_.job(jobs_.at(start.job)).firstTask + start.task;
    places_[task] = {.node = node, .lease = start.lease};
    world_.start(task, serverOf_[node]);
  }
  wantedByQueue_.clear();
  if (!options_.carriesProfiles) return;  // nothing is passed over, and no message is lost
  const MonotonicTime wake = queues_[node].nextWake();
  if (wake >= looks_[node]) return;
  looks_[node] = wake;
  world_.send(std::max(Duration::zero(), wake - now()), {.kind = kLook, .b = node});
}

}  // namespace tarcil::sim
