// Tasks with which something is to be done at a time, by allocation.
#pragma once

#include <map>

#include "core/base/ids.h"
#include "master/logic/deadlines.h"

namespace tarcil::master {

template <typename Entry>
class DueTasks {
 public:
  Entry* find(AllocationId allocation) {
    const auto found = tasks_.find(allocation);
    return found == tasks_.end() ? nullptr : &found->second;
  }
  const Entry* find(AllocationId allocation) const {
    const auto found = tasks_.find(allocation);
    return found == tasks_.end() ? nullptr : &found->second;
  }
  Entry& add(AllocationId allocation) { return tasks_[allocation]; }
  void erase(AllocationId allocation) {
    tasks_.erase(allocation);
    due.clear(allocation);
  }
  size_t size() const { return tasks_.size(); }

  DeadlinesOf<AllocationId> due;

 private:
  std::map<AllocationId, Entry> tasks_;
};

}  // namespace tarcil::master
