// Occupancy of the last-level cache and traffic to memory, of the machine and of each task, by resctrl: a
// monitoring group for each task, and a control group for one that is limited.
#pragma once

#include <map>
#include <set>
#include <string>

#include "core/base/ids.h"
#include "monitor/logic/pressure/counters.h"
#include "monitor/logic/pressure/resctrl_limits.h"

namespace tarcil {

// The processor has a few hundred groups at most; a task that gets none is absent, and so is the sum of the
// tasks. Where resctrl is not mounted, everything is absent and nothing is done.
class CacheMonitor final {
 public:
  // `root`: where resctrl is mounted. `prefix`: of the names of its groups; those left by a predecessor
  // are removed.
  CacheMonitor(std::string root, std::string prefix);
  // Removes its groups.
  ~CacheMonitor();
  CacheMonitor(const CacheMonitor&) = delete;
  CacheMonitor& operator=(const CacheMonitor&) = delete;

  // Counts this task from now on. `threads`: the file of its threads in some hierarchy of cgroups. Called
  // again, it moves the threads that came while it was called first; what they make themselves later is in
  // their group from its birth.
  void follow(AllocationId task, const std::string& threads);
  // Keeps this task to shares, in (0, 1], of the ways of the cache and of the memory bandwidth, until another
  // call; 1 of both: it is limited no more. kUnavailable: they cannot be limited here, or not those of one
  // more task.
  Status limit(AllocationId task, const std::string& threads, double ways, double bandwidth);
  const CacheControls& controls() const { return controls_; }

  // All others have ended: their traffic stays in the sum.
  void forgetAllBut(const std::set<AllocationId>& running);

  Reading<CacheUse> task(AllocationId task) const;
  // Of all that are followed, and were.
  Reading<CacheUse> tasks() const;
  // Of everything.
  Reading<CacheUse> machine() const;

 private:
  std::string groupOf(AllocationId task) const;
  std::string controlGroupOf(AllocationId task) const;
  void leaveMonitoringGroup(AllocationId task);

  const std::string root_;
  const std::string prefix_;
  const Status there_;
  struct Followed {
    Status made;    // why it has no group
    int moves = 0;  // how often its threads were moved
  };
  std::map<AllocationId, Followed> followed_;
  const CacheControls controls_;
  std::set<AllocationId> limited_;  // have a control group
  uint64_t departed_ = 0;           // bytes of those that are gone
};

}  // namespace tarcil
