#include "monitor/cgroup_v1.h"

#include <algorithm>

namespace tarcil {
namespace {

// Controllers mounted together share a directory.
std::string addDirectory(const std::string& directory, TaskCgroups& result) {
  if (std::find(result.directories.begin(), result.directories.end(), directory) ==
      result.directories.end()) {
    result.directories.push_back(directory);
    result.joins.push_back(directory + "/tasks");
  }
  return directory + "/";
}

}  // namespace

void addV1(const std::map<std::string, std::string>& parents, const std::string& name,
           const TaskLimits& limits, bool limitSwap, TaskCgroups& result) {
  const auto directoryOf = [&parents, &name, &result](const char* controller) -> std::string {
    const auto parent = parents.find(controller);
    return parent == parents.end() ? std::string() : addDirectory(parent->second + "/" + name, result);
  };
  if (const auto memory = directoryOf(kMemory); !memory.empty()) {
    result.oomFile = memory + "memory.oom_control";
    if (limits.memoryBytes > 0) {
      const std::string bytes = std::to_string(limits.memoryBytes);
      result.settings.push_back({memory + "memory.limit_in_bytes", bytes});
      // After the limit of memory alone, which may not be above it.
      if (limitSwap) result.settings.push_back({memory + "memory.memsw.limit_in_bytes", bytes});
    }
  }
  if (limits.pids > 0) {
    if (const auto pids = directoryOf(kPids); !pids.empty()) {
      // One more than the user's: the namespace's init is in there too.
      result.settings.push_back({pids + "pids.max", std::to_string(limits.pids + 1)});
    }
  }
  for (const char* counting : {kCpuacct, kBlkio}) directoryOf(counting);
  // Without cores and memory nodes nothing can join a version 1 cpuset; the nodes are the parent's by
  // clone_children.
  if (!limits.cores.empty()) {
    if (const auto cpuset = directoryOf(kCpuset); !cpuset.empty()) {
      result.settings.push_back({cpuset + "cpuset.cpus", coreList(limits.cores)});
    }
  }
}

}  // namespace tarcil
