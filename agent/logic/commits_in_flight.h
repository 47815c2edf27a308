// Commits that the master has not answered. Until then their claims count as taken on the agent's copy of the
// state, so that the same units are not claimed twice (docs/protocol.md).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "core/state/cluster_state.h"
#include "core/state/commit.h"

namespace tarcil::agent {

// At most one commit per job is in flight: no task is claimed twice, and slots that become free meanwhile are
// left to the job's next commit.
class CommitsInFlight {
 public:
  // Numbers the commit, lays its claims over `state` and keeps it. The reference is valid until take().
  // Requires: no commit of the same job is in flight.
  const Commit& add(Commit commit, const JobSpec& spec, ClusterState& state);

  bool has(const JobId& job) const { return byJob_.contains(job); }
  // nullptr if none of the job is in flight. Valid until take().
  const Commit* find(const JobId& job) const;

  // Removes an answered commit and lifts its claims. nullopt if no such commit is in flight.
  std::optional<Commit> take(uint64_t sequence, ClusterState& state);

  // Forgets every commit and restarts numbering from 1, for a new epoch. Lifts no claims: the state starts
  // over as well.
  void restart();

  // Lays every claim over a new copy of the state, except claims on servers that it does not know.
  void layOver(ClusterState& state);

  // In the order in which they were sent.
  std::vector<Commit> all() const;

  size_t size() const { return entries_.size(); }

  // Those with claims in flight.
  std::set<ServerId> servers() const;

 private:
  struct Entry {
    Commit commit;
    Profile profile;
    Extras extras;
    ByteRequest request;
    std::vector<ClusterState::OverlayId> overlays;
  };

  static void layOver(Entry& entry, ClusterState& state);

  std::map<uint64_t, Entry> entries_;
  std::unordered_map<JobId, uint64_t> byJob_;
  uint64_t nextSequence_ = 1;
};

}  // namespace tarcil::agent
