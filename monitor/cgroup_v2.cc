#include "monitor/cgroup_v2.h"

namespace tarcil {

void addV2(const std::string& parent, const std::set<std::string>& controllers, const std::string& name,
           const TaskLimits& limits, bool limitSwap, TaskCgroups& result) {
  if (parent.empty()) return;
  const std::string directory = parent + "/" + name;
  result.directories.push_back(directory);
  result.birth = directory;
  if (controllers.contains(kMemory)) {
    result.oomFile = directory + "/memory.events";
    if (limits.memoryBytes > 0) {
      result.settings.push_back({directory + "/memory.max", std::to_string(limits.memoryBytes)});
      if (limitSwap) result.settings.push_back({directory + "/memory.swap.max", "0"});
    }
  }
  if (controllers.contains(kPids) && limits.pids > 0) {
    // One more than the user's: the namespace's init is in there too.
    result.settings.push_back({directory + "/pids.max", std::to_string(limits.pids + 1)});
  }
  if (controllers.contains(kCpuset) && !limits.cores.empty()) {
    result.settings.push_back({directory + "/cpuset.cpus", coreList(limits.cores)});
  }
}

}  // namespace tarcil
