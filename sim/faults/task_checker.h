// What really runs on the machines of a virtual cluster, whatever anybody believes: the promises about
// units, exclusive tasks and starts are held against this.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/model/launch.h"
#include "sim/faults/virtual_world.h"

namespace tarcil::sim {

class TaskChecker {
 public:
  explicit TaskChecker(VirtualWorld& world) : world_(world) {}

  // What became of an allocation that a machine was told to start.
  struct Seen {
    LaunchSpec spec;
    std::string machine;
    std::optional<TaskEnd> end;  // none: it runs, or its machine was lost with it
    bool isGone = false;         // the machine was lost, with all that was written down there
    bool isForgotten = false;    // the monitor has let go of it
    bool isShutDown = false;     // its monitor was shut down while it ran
    bool isOfBefore = false;  // a backup was restored since it was granted: the master may know nothing of it
  };
  // Null where it was never started.
  const Seen* find(AllocationId allocation) const;

  // Violations: an allocation is started twice, a unit or a countable thing has two owners, an exclusive task
  // has two live copies.
  void starts(const std::string& machine, const LaunchSpec& spec);
  void resized(AllocationId allocation, const std::vector<RuIndex>& rus);
  void ended(AllocationId allocation, const TaskEnd& end);
  void forgotten(AllocationId allocation);
  void machineLost(const std::string& machine);
  void monitorShutDown(const std::string& machine);
  // Allocations below `next` were granted before.
  void backupRestored(AllocationId next);

  size_t running() const { return running_; }
  uint64_t started() const { return started_; }

 private:
  using Thing = std::pair<std::string, std::string>;  // server; unit or countable thing
  using Task = std::pair<JobId, TaskIndex>;

  static std::vector<Thing> thingsOf(const LaunchSpec& spec);
  void own(const LaunchSpec& spec);
  void disown(const LaunchSpec& spec);
  void release(const Seen& seen);

  VirtualWorld& world_;
  std::map<AllocationId, Seen> seen_;
  std::map<Thing, AllocationId> owners_;
  std::map<Task, AllocationId> exclusive_;  // live copies
  AllocationId firstOfMaster_ = 0;          // granted since a backup was restored
  size_t running_ = 0;
  uint64_t started_ = 0;
};

}  // namespace tarcil::sim
