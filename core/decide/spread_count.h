// Tasks of a job by server or rack, where they are spread (spread.h), in a state of the cluster.
#pragma once

#include <cstdint>

#include "core/decide/spread.h"
#include "core/state/cluster_state.h"

namespace tarcil {

// For a job that does not spread nothing is counted, and every server may take any number. The state and the
// placement outlive it.
class SpreadCount {
 public:
  SpreadCount(const ClusterState& state, const Placement& placement)
      : state_(&state), placement_(&placement), tasks_(placement) {}

  bool isLimited() const { return placement_->spread != Spread::kNone; }

  void add(ServerId server, uint32_t tasks = 1) {
    if (isLimited()) tasks_.add(domainOf(server), tasks);
  }

  // Further tasks that may go to the server.
  uint32_t room(ServerId server) const { return isLimited() ? tasks_.room(domainOf(server)) : UINT32_MAX; }

  bool isFull(ServerId server) const { return room(server) == 0; }

 private:
  uint32_t domainOf(ServerId server) const {
    return spreadDomain(*placement_, server, state_->vacancy(server).rack);
  }

  const ClusterState* state_;
  const Placement* placement_;
  SpreadCounts<uint32_t> tasks_;
};

}  // namespace tarcil
