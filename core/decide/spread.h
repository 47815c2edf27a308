// What placement.spread allows: so many tasks of a job in each domain.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "core/model/job.h"

namespace tarcil {

// Counts tasks of one job by domain: numbers or names.
template <typename Key>
class SpreadCounts {
 public:
  explicit SpreadCounts(const Placement& placement)
      : mostPerDomain_(placement.spread.empty() ? UINT32_MAX : placement.atMost) {}

  void add(const Key& domain, uint32_t tasks = 1) { tasks_[domain] += tasks; }
  // Requires: the domain has one.
  void remove(const Key& domain) { --tasks_[domain]; }

  // Further tasks that may go there; UINT32_MAX where the job's tasks are not spread.
  uint32_t room(const Key& domain) const {
    if (mostPerDomain_ == UINT32_MAX) return UINT32_MAX;
    const auto found = tasks_.find(domain);
    return found == tasks_.end() ? mostPerDomain_ : mostPerDomain_ - std::min(found->second, mostPerDomain_);
  }
  bool isFull(const Key& domain) const { return room(domain) == 0; }

 private:
  uint32_t mostPerDomain_;
  std::unordered_map<Key, uint32_t> tasks_;
};

}  // namespace tarcil
