// What placement.spread allows: so many tasks of a job on each server, or in each rack.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "core/model/job.h"

namespace tarcil {

// The server or the rack, whichever the job's tasks are spread over. Requires: they are spread.
template <typename Domain>
const Domain& spreadDomain(const Placement& placement, const Domain& server, const Domain& rack) {
  return placement.spread == Spread::kRack ? rack : server;
}

// Counts tasks of one job by domain: numbers or names of servers or racks.
template <typename Domain>
class SpreadCounts {
 public:
  explicit SpreadCounts(const Placement& placement)
      : mostPerDomain_(placement.spread == Spread::kNone ? UINT32_MAX : placement.atMost) {}

  void add(const Domain& domain, uint32_t tasks = 1) { tasks_[domain] += tasks; }
  // Requires: the domain has one.
  void remove(const Domain& domain) { --tasks_[domain]; }

  // Further tasks that may go there; UINT32_MAX where the job's tasks are not spread.
  uint32_t room(const Domain& domain) const {
    if (mostPerDomain_ == UINT32_MAX) return UINT32_MAX;
    const auto found = tasks_.find(domain);
    return found == tasks_.end() ? mostPerDomain_ : mostPerDomain_ - std::min(found->second, mostPerDomain_);
  }
  bool isFull(const Domain& domain) const { return room(domain) == 0; }

 private:
  uint32_t mostPerDomain_;
  std::unordered_map<Domain, uint32_t> tasks_;
};

}  // namespace tarcil
