// Tasks that fall short of what their jobs expect, or did so a while ago (docs/protocol.md).
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/model/performance.h"
#include "master/logic/deadlines.h"

namespace tarcil::master {

struct DegradedTask {
  std::optional<Violation> violation;  // as its monitor told last; none: it is over
  Duration calm{};                     // so long it must be over before what was done is undone
  MonotonicTime nextStep{};            // not before
  MonotonicTime grownSince{};          // units beyond those it asked for are accounted for up to here
  std::vector<RuIndex> resizing;       // what its monitor is to give it and has not confirmed; empty: nothing
  bool grows = false;                  // the last of those is one that it never had
  bool outranked = false;              // it was said that a job waits that could use the server's units
  bool autoCordoned = false;           // its server was kept from others for it
  std::optional<std::string> failed;   // why its monitor cannot give it more units
  size_t lookedAt = 0;                 // servers, for a better place
};

// By allocation. Each has something due.
class ViolationTable {
 public:
  DegradedTask* find(AllocationId allocation) {
    const auto found = tasks_.find(allocation);
    return found == tasks_.end() ? nullptr : &found->second;
  }
  const DegradedTask* find(AllocationId allocation) const {
    const auto found = tasks_.find(allocation);
    return found == tasks_.end() ? nullptr : &found->second;
  }
  DegradedTask& add(AllocationId allocation) { return tasks_[allocation]; }
  void erase(AllocationId allocation) {
    tasks_.erase(allocation);
    due.clear(allocation);
  }
  size_t size() const { return tasks_.size(); }

  DeadlinesOf<AllocationId> due;  // when the next thing is to be done, or undone

 private:
  std::map<AllocationId, DegradedTask> tasks_;
};

}  // namespace tarcil::master
