// The agent's copy of the shared state.
#pragma once

#include <cstdint>
#include <set>
#include <unordered_map>
#include <vector>

#include "core/state/cluster_state.h"
#include "core/state/state_checksum.h"

namespace tarcil::agent {

class StateCopy {
 public:
  ClusterState& state() { return state_; }
  const ClusterState& state() const { return state_; }

  // Where an update came from: the feed, which brings every change, or the answer to a commit, which may
  // bring one before the feed does.
  enum class Source { kFeed, kAnswer };

  // Applies a server's state if it is newer. An update of an unknown server without facts is ignored.
  void apply(const ServerUpdate& update, Source source);

  // Whether it holds states that the feed has not brought yet.
  bool isAhead() const { return !ahead_.empty(); }

  // Of all known servers, to be compared with the master's. Computed from the statuses that the copy holds
  // now; for facts, and for the servers in `laidOver` (with claims in flight), from what was received last.
  // O(servers), some 100 ns each.
  StateChecksum checksum(const std::set<ServerId>& laidOver) const;

 private:
  void note(const ServerUpdate& update, Source source);
  void noteFacts(ServerId id, const ServerFacts& facts);
  void noteCaughtUp(const ServerUpdate& update);

  ClusterState state_;
  std::vector<uint64_t> taken_;                   // by server: checksum of the status received last
  std::vector<uint64_t> takenFacts_;              // the same of its facts
  uint64_t factsTaken_ = 0;                       // their sum
  std::unordered_map<ServerId, uint64_t> ahead_;  // version that an answer brought and the feed has not
};

}  // namespace tarcil::agent
