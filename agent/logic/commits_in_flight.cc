#include "agent/logic/commits_in_flight.h"

namespace tarcil::agent {

const Commit& CommitsInFlight::add(Commit commit, const JobSpec& spec, ClusterState& state) {
  commit.sequence = nextSequence_++;
  commit.answered = entries_.empty() ? commit.sequence - 1 : entries_.begin()->first - 1;
  byJob_[commit.job] = commit.sequence;
  uint64_t sequence = commit.sequence;
  Entry& entry = entries_[sequence] = {.commit = std::move(commit),
                                       .profile = spec.profile,
                                       .extras = spec.extras,
                                       .request = spec.byteRequest(),
                                       .overlays = {}};
  layOver(entry, state);
  return entry.commit;
}

const Commit* CommitsInFlight::find(const JobId& job) const {
  const auto found = byJob_.find(job);
  return found == byJob_.end() ? nullptr : &entries_.at(found->second).commit;
}

std::optional<Commit> CommitsInFlight::take(uint64_t sequence, ClusterState& state) {
  auto found = entries_.find(sequence);
  if (found == entries_.end()) return std::nullopt;
  for (ClusterState::OverlayId overlay : found->second.overlays) state.lift(overlay);
  Commit commit = std::move(found->second.commit);
  byJob_.erase(commit.job);
  entries_.erase(found);
  return commit;
}

void CommitsInFlight::restart() {
  entries_.clear();
  byJob_.clear();
  nextSequence_ = 1;
}

void CommitsInFlight::layOver(ClusterState& state) {
  for (auto& [sequence, entry] : entries_) layOver(entry, state);
}

std::vector<Commit> CommitsInFlight::all() const {
  std::vector<Commit> commits;
  for (const auto& [sequence, entry] : entries_) commits.push_back(entry.commit);
  return commits;
}

std::set<ServerId> CommitsInFlight::servers() const {
  std::set<ServerId> servers;
  for (const auto& [sequence, entry] : entries_) {
    for (const Claim& claim : entry.commit.claims) servers.insert(claim.server);
  }
  return servers;
}

void CommitsInFlight::layOver(Entry& entry, ClusterState& state) {
  entry.overlays.clear();
  for (const Claim& claim : entry.commit.claims) {
    if (!state.known(claim.server)) continue;
    entry.overlays.push_back(
        state.layOver(claim.server, claim.preferred, entry.profile, entry.extras, entry.request));
  }
}

}  // namespace tarcil::agent
