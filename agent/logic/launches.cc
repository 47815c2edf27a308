#include "agent/logic/launches.h"

#include <algorithm>

#include "core/state/launch_of.h"

namespace tarcil::agent {

void Launches::start(LaunchSpec spec, size_t unitsMore, ServerId server, const ClusterState& state,
                     std::vector<Action>& actions) {
  AllocationId allocation = spec.allocation;
  auto [entry, added] = launching_.try_emplace(allocation);
  if (!added) {
    entry->second.isOutdated = entry->second.stage == Launching::Stage::kSent;
    return;
  }
  entry->second.spec = std::move(spec);
  entry->second.unitsMore = unitsMore;
  entry->second.server = server;
  entry->second.pause = retry_;
  send(entry->second, state, actions);
}

void Launches::answered(const LaunchAnswered& answer, MonotonicTime now) {
  auto found = launching_.find(answer.allocation);
  if (found == launching_.end()) return;
  Launching& launching = found->second;
  if (answer.outcome != LaunchAnswered::Outcome::kUnreachable && !launching.isOutdated) {
    drop(answer.allocation);
    return;
  }
  if (launching.stage != Launching::Stage::kSent) return;
  launching.isOutdated = false;
  launching.stage = Launching::Stage::kPausing;
  launching.due = now + launching.pause;
  launching.pause = std::min(launching.pause * 3 / 2, kMaxPause);
  pausing_.insert({launching.due, answer.allocation});
}

void Launches::drop(AllocationId allocation) {
  auto found = launching_.find(allocation);
  if (found == launching_.end()) return;
  pausing_.erase({found->second.due, allocation});
  launching_.erase(found);
}

void Launches::serverKnown(ServerId server, const ClusterState& state, std::vector<Action>& actions) {
  for (auto& [allocation, launching] : launching_) {
    if (launching.server != server || launching.stage == Launching::Stage::kSent) continue;
    send(launching, state, actions);
  }
}

void Launches::retry(MonotonicTime now, const ClusterState& state, std::vector<Action>& actions) {
  while (!pausing_.empty() && pausing_.begin()->first <= now) {
    send(launching_.at(pausing_.begin()->second), state, actions);
  }
}

std::optional<MonotonicTime> Launches::nextRetry() const {
  if (pausing_.empty()) return std::nullopt;
  return pausing_.begin()->first;
}

void Launches::send(Launching& launching, const ClusterState& state, std::vector<Action>& actions) {
  pausing_.erase({launching.due, launching.spec.allocation});
  if (!state.known(launching.server)) {
    launching.stage = Launching::Stage::kNoFacts;
    return;
  }
  launching.stage = Launching::Stage::kSent;
  launching.spec.server = state.name(launching.server);
  LaunchSpec spec = launching.spec;
  if (launching.unitsMore > 0) growMemory(spec, launching.unitsMore, state.facts(launching.server));
  actions.push_back(Launch{.address = std::string(state.address(launching.server)), .spec = std::move(spec)});
}

}  // namespace tarcil::agent
