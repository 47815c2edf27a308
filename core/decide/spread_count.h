// placement.spread: at most so many tasks of a job on one server or in one rack.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "core/model/job.h"
#include "core/state/cluster_state.h"

namespace tarcil {

// Counts a job's tasks by their domain, which is a server or a rack. Of a job that does not spread nothing is
// counted and every server has room. The state and the placement outlive it.
class SpreadCount {
 public:
  SpreadCount(const ClusterState& state, const Placement& placement)
      : state_(&state), placement_(&placement) {}

  bool isLimited() const { return placement_->spread != Spread::kNone; }

  void add(ServerId server, uint32_t tasks = 1) {
    if (isLimited()) tasks_[domainOf(server)] += tasks;
  }

  // Further tasks that may go to the server.
  uint32_t room(ServerId server) const {
    if (!isLimited()) return UINT32_MAX;
    const auto found = tasks_.find(domainOf(server));
    const uint32_t there = found == tasks_.end() ? 0 : found->second;
    return placement_->atMost - std::min(there, placement_->atMost);
  }

  bool isFull(ServerId server) const { return room(server) == 0; }

 private:
  uint32_t domainOf(ServerId server) const {
    return placement_->spread == Spread::kRack ? state_->vacancy(server).rack : server;
  }

  const ClusterState* state_;
  const Placement* placement_;
  std::unordered_map<uint32_t, uint32_t> tasks_;
};

}  // namespace tarcil
