#include "monitor/logic/cgroup/cgroup_v2.h"

#include <algorithm>

namespace tarcil {
namespace {

void addIoV2(const std::string& directory, const TaskLimits& limits, const CgroupFeatures& features,
             TaskCgroups& result) {
  if (limits.ioWeight > 0 && features.ioWeightFile.starts_with("io.")) {
    const uint32_t weight = std::min(limits.ioWeight, features.mostIoWeight);
    result.settings.push_back({std::string(directory).append("/").append(features.ioWeightFile),
                               "default " + std::to_string(weight)});
  }
  if (limits.diskBytesPerSecond == 0 || !features.limitIo) return;
  for (CgroupSetting& setting : diskLimitV2(directory, limits.disks, limits.diskBytesPerSecond)) {
    result.settings.push_back(std::move(setting));
  }
}

}  // namespace

CgroupSetting memoryLimitV2(const std::string& directory, uint64_t bytes) {
  return {directory + "/memory.max", std::to_string(bytes)};
}

CgroupSetting cpuLimitV2(const std::string& directory, uint64_t cpuMicros) {
  const std::string quota = cpuMicros == 0 ? "max" : std::to_string(cpuMicros);
  return {directory + "/cpu.max", quota + " " + std::to_string(kCpuPeriodMicros)};
}

std::vector<CgroupSetting> diskLimitV2(const std::string& directory, const std::vector<std::string>& disks,
                                       uint64_t bytesPerSecond) {
  const std::string bytes = bytesPerSecond == 0 ? "max" : std::to_string(bytesPerSecond);
  std::vector<CgroupSetting> settings;
  for (const std::string& disk : disks) {
    settings.push_back({directory + "/io.max", disk + " rbps=" + bytes + " wbps=" + bytes});
  }
  return settings;
}

void addV2(const std::string& parent, const std::set<std::string>& controllers, const std::string& name,
           const TaskLimits& limits, const CgroupFeatures& features, TaskCgroups& result) {
  if (parent.empty()) return;
  const std::string directory = parent + "/" + name;
  result.directories.push_back(directory);
  result.birth = directory;
  result.cpuFile = directory + "/cpu.stat";
  if (controllers.contains(kMemory)) {
    result.oomFile = directory + "/memory.events";
    result.peakFile = directory + "/memory.peak";
    if (limits.memoryBytes > 0) {
      result.settings.push_back(memoryLimitV2(directory, limits.memoryBytes));
      if (features.limitSwap) result.settings.push_back({directory + "/memory.swap.max", "0"});
    }
    if (limits.memoryLowBytes > 0) {
      result.settings.push_back({directory + "/memory.low", std::to_string(limits.memoryLowBytes)});
    }
  }
  if (controllers.contains(kIo)) addIoV2(directory, limits, features, result);
  if (controllers.contains(kPids) && limits.pids > 0) {
    // One more than the user's: the namespace's init is in there too.
    result.settings.push_back({directory + "/pids.max", std::to_string(limits.pids + 1)});
  }
  if (controllers.contains(kCpuset) && !limits.cores.empty()) {
    result.settings.push_back({directory + "/cpuset.cpus", coreList(limits.cores)});
  }
}

}  // namespace tarcil
