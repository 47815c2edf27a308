// Tasks of a job by domain, where they are spread (spread.h), in a state of the cluster.
#pragma once

#include <cstdint>

#include "core/decide/domains.h"
#include "core/decide/spread.h"
#include "core/state/cluster_state.h"

namespace tarcil {

// For a job that does not spread nothing is counted, and every server may take any number. The state and the
// placement outlive it.
class SpreadCount {
 public:
  SpreadCount(const ClusterState& state, const Placement& placement)
      : isLimited_(!placement.spread.empty()), domains_(state, placement.spread), tasks_(placement) {}

  bool isLimited() const { return isLimited_; }

  // Requires: isLimited().
  Domains::Key domainOf(ServerId server) const { return domains_.of(server); }

  void add(ServerId server, uint32_t tasks = 1) {
    if (isLimited()) tasks_.add(domains_.of(server), tasks);
  }

  // Further tasks that may go to the server.
  uint32_t room(ServerId server) const { return isLimited() ? tasks_.room(domains_.of(server)) : UINT32_MAX; }

  bool isFull(ServerId server) const { return room(server) == 0; }

 private:
  bool isLimited_;
  Domains domains_;
  SpreadCounts<Domains::Key> tasks_;
};

}  // namespace tarcil
