#include "monitor/logic/cgroup/cgroup_v1.h"

#include <algorithm>
#include <utility>

namespace tarcil {
namespace {

void addOnce(std::string text, std::vector<std::string>& texts) {
  if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
}

// Controllers mounted together share a directory.
std::string addDirectory(const std::string& directory, TaskCgroups& result) {
  addOnce(directory, result.directories);
  addOnce(directory + "/tasks", result.joins);
  return directory + "/";
}

void addIoV1(const std::string& blkio, const TaskLimits& limits, const CgroupFeatures& features,
             TaskCgroups& result) {
  if (limits.ioWeight > 0 && features.ioWeightFile.starts_with("blkio.")) {
    const uint32_t weight = std::min(limits.ioWeight, features.mostIoWeight);
    result.settings.push_back({blkio + features.ioWeightFile, std::to_string(weight)});
  }
  if (limits.diskBytesPerSecond == 0 || !features.limitIo) return;
  for (CgroupSetting& setting : diskLimitV1(blkio, limits.disks, limits.diskBytesPerSecond)) {
    result.settings.push_back(std::move(setting));
  }
}

}  // namespace

CgroupSetting memoryLimitV1(const std::string& memory, uint64_t bytes) {
  return {memory + "memory.limit_in_bytes", std::to_string(bytes)};
}

std::vector<CgroupSetting> cpuLimitV1(const std::string& cpu, uint64_t cpuMicros) {
  return {{cpu + "cpu.cfs_period_us", std::to_string(kCpuPeriodMicros)},
          {cpu + "cpu.cfs_quota_us", cpuMicros == 0 ? "-1" : std::to_string(cpuMicros)}};
}

std::vector<CgroupSetting> diskLimitV1(const std::string& blkio, const std::vector<std::string>& disks,
                                       uint64_t bytesPerSecond) {
  std::vector<CgroupSetting> settings;
  for (const std::string& disk : disks) {
    const std::string value = disk + " " + std::to_string(bytesPerSecond);
    for (const char* file : {"blkio.throttle.read_bps_device", "blkio.throttle.write_bps_device"}) {
      settings.push_back({blkio + file, value});
    }
  }
  return settings;
}

void addV1(const std::map<std::string, std::string>& parents, const std::string& name,
           const TaskLimits& limits, const CgroupFeatures& features, TaskCgroups& result) {
  const auto directoryOf = [&parents, &name, &result](const char* controller) -> std::string {
    const auto parent = parents.find(controller);
    return parent == parents.end() ? std::string() : addDirectory(parent->second + "/" + name, result);
  };
  const auto addOutputJoin = [&result](const std::string& directory) {
    if (!directory.empty()) addOnce(directory + "tasks", result.outputJoins);
  };
  if (const auto memory = directoryOf(kMemory); !memory.empty()) {
    result.oomFile = memory + "memory.oom_control";
    result.peakFile = memory + "memory.max_usage_in_bytes";
    if (limits.memoryBytes > 0) {
      result.settings.push_back(memoryLimitV1(memory, limits.memoryBytes));
      // After the limit of memory alone, which may not be above it.
      if (features.limitSwap) {
        result.settings.push_back(
            {memory + "memory.memsw.limit_in_bytes", std::to_string(limits.memoryBytes)});
      }
    }
    if (limits.memoryLowBytes > 0) {
      result.settings.push_back(
          {memory + "memory.soft_limit_in_bytes", std::to_string(limits.memoryLowBytes)});
    }
  }
  if (limits.pids > 0) {
    if (const auto pids = directoryOf(kPids); !pids.empty()) {
      // One more than the user's: the namespace's init is in there too.
      result.settings.push_back({pids + "pids.max", std::to_string(limits.pids + 1)});
    }
  }
  const std::string cpuacct = directoryOf(kCpuacct);
  if (!cpuacct.empty()) result.cpuFile = cpuacct + "cpuacct.usage";
  addOutputJoin(cpuacct);
  if (const auto blkio = directoryOf(kBlkio); !blkio.empty()) addIoV1(blkio, limits, features, result);
  // Without cores and memory nodes nothing can join a version 1 cpuset; the nodes are the parent's
  // by clone_children.
  if (!limits.cores.empty()) {
    if (const auto cpuset = directoryOf(kCpuset); !cpuset.empty()) {
      result.settings.push_back({cpuset + "cpuset.cpus", coreList(limits.cores)});
      addOutputJoin(cpuset);
    }
  }
}

}  // namespace tarcil
