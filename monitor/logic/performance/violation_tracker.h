// What a monitor has to tell its master of degraded tasks: batches, and what is to be told again. Pure.
//
// Of each task only the latest word matters. A word stays due until the master has taken it; a task that is
// of those that are degraded is due again after each attach, since the master keeps nothing of it on disk.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/base/time.h"
#include "core/model/performance.h"

namespace tarcil {

class ViolationTracker final {
 public:
  void note(const Violation& violation);
  // The task has ended: nothing more is reported of it.
  void forget(AllocationId task);

  // The monitor is attached: all degraded tasks are to be reported. What was under way is lost.
  void attached();
  // The connection is lost, and what was under way with it.
  void detached();

  // What is to be sent now, at most kMaxViolations; empty: nothing, or not yet. What is returned is under way
  // until taken(); nothing else is returned meanwhile.
  std::vector<Violation> due(MonotonicTime now);
  // The master has what was under way.
  void taken();

  // When due() may have something; nullopt: not before something changes.
  std::optional<MonotonicTime> nextDue() const;

 private:
  struct Word {
    Violation violation;
    uint64_t number = 0;  // of the note; a later one makes it due again
    bool due = true;
  };

  std::map<AllocationId, Word> words_;
  uint64_t notes_ = 0;
  bool attached_ = false;
  std::map<AllocationId, uint64_t> underWay_;  // with the number of the note that was sent
  std::optional<MonotonicTime> sent_;
};

}  // namespace tarcil
