// Tasks that fall short of what their jobs expect, or did so a while ago (docs/protocol.md).
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "core/model/performance.h"
#include "master/logic/deadlines.h"

namespace tarcil::master {

struct DegradedTask {
  std::optional<Violation> violation;  // as its monitor reported it last; none once it is over
  Duration calm{};                     // what was done is undone when it has been over for so long
  MonotonicTime nextStep{};            // not before
  MonotonicTime grownSince{};          // units beyond those it asked for are accounted for up to here
  std::vector<RuIndex> resizing;       // units requested of its monitor and not confirmed; empty: none
  bool grows = false;                  // the last of those is one that it never had
  bool outranked = false;              // logged: a job waits that could use the units of its server
  bool autoCordoned = false;           // its server was auto-cordoned for it
  std::optional<std::string> failed;   // why its monitor cannot give it more units
  size_t lookedAt = 0;                 // servers, in search of a better one
};

// The next DegradedTask::calm, of a task whose violation came back.
inline Duration longerCalm(Duration calm) {
  constexpr Duration kMaxCalm = std::chrono::hours(1);
  return std::min(2 * calm, kMaxCalm);
}

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

  DeadlinesOf<AllocationId> due;  // when the next step is to be taken, or undone

 private:
  std::map<AllocationId, DegradedTask> tasks_;
};

}  // namespace tarcil::master
