// The agent's copy of the shared state, which notices what has got better for jobs that wait.
#pragma once

#include <cstdint>

#include "core/state/cluster_state.h"

namespace tarcil::agent {

class StateCopy {
 public:
  ClusterState& state() { return state_; }
  const ClusterState& state() const { return state_; }

  // Takes a server's state if it is newer. Returns whether a slot may suit a job that none suited before: the
  // server came up, more units are free, or its tasks cause or suffer less. An update of an unknown server
  // without facts is ignored.
  bool apply(const ServerUpdate& update);

  // Resource units, free or not, of servers that are up and not cordoned.
  uint64_t usableUnits() const { return usableUnits_; }

 private:
  ClusterState state_;
  uint64_t usableUnits_ = 0;
};

}  // namespace tarcil::agent
