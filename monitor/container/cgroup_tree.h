// This server's part of the machine's cgroup trees: `<hierarchy>/<path>/<allocation>`.
#pragma once

#include <kj/io.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "monitor/logic/cgroup/cgroup.h"
#include "monitor/pressure/cgroup_reader.h"

namespace tarcil {

// Where the kernel's files are; tests name others.
struct SystemPaths {
  std::string mounts = "/proc/self/mounts";
  std::string swaps = "/proc/swaps";
  std::string resctrl = "/sys/fs/resctrl";
  std::string sys = "/sys";
};

class CgroupTree {
 public:
  // Looks for the controllers in the mount table and makes `path`, from the outermost cgroup inwards, in each
  // hierarchy that has one of them. What cannot be had is missing, not an error. Several may have one path,
  // as a second monitor of a server's name that the master refuses: each holds it by a lock (flock) that the
  // kernel releases when the process ends.
  CgroupTree(const SystemPaths& paths, std::vector<std::string> path);

  // Keeps all tasks together to so many bytes. kUnavailable: this machine cannot.
  Status limitMemory(uint64_t bytes) const;

  // What a task needs; makes nothing.
  TaskCgroups forTask(AllocationId allocation, const TaskLimits& limits) const;

  // Puts a task that is there under other limits; where that fails it has those that it had. kConflict: it
  // uses more memory than it would have.
  Status limit(AllocationId allocation, const TaskLimits& limits) const;

  // Puts a task that is there under these limits, or without a limit under no more of them. kUnavailable:
  // this machine has no such limit.
  Status throttle(AllocationId allocation, const ThrottleLimits& limits) const;

  // To be called when no task is throttled any more: cores are shared as before.
  void endThrottling() const;

  // The task's cgroup below the root of each hierarchy: "/<path>/<allocation>".
  std::string pathOf(AllocationId allocation) const;

  // With the ids of the task's processes and of what moves its output; empty where a task has no cgroup.
  std::string processesFile(AllocationId allocation) const;

  // Where all tasks of this server are counted together.
  CgroupDirectories counted() const;
  // Where one task is counted.
  CgroupDirectories counted(AllocationId allocation) const;

  // What tasks on this machine cannot be limited by: controllers, "io-limit", and "io-weight" where no
  // physical disk heeds weights, else "io-weight:DISK" for each that does not, as it was when this was made.
  std::vector<std::string> missing() const;

  // Removes the cgroups of a task. False if a process is still in one of them.
  bool remove(AllocationId allocation) const;

  // Whether a process is still in one of them.
  bool hasProcesses(AllocationId allocation) const;

  // Removes the directories of the path, the innermost first, as far as nothing is left in them and no other
  // tree holds them. The last call.
  void removeUnused();

  // Makes a directory below its parent fit for tasks. False: that is not possible.
  using Prepare = bool (*)(const std::string& parent, const std::string& directory);

  // The cores that a living task is kept to; none where nothing keeps it or it is gone.
  std::vector<uint32_t> coresOf(AllocationId allocation) const;

  // Tasks that have a cgroup.
  std::set<AllocationId> tasks() const;

 private:
  // Makes the path below the mount and holds it; empty if that is not possible.
  std::string makeAndHold(const std::string& mount, Prepare prepare);
  std::vector<std::string> parents() const;
  std::string serverPath() const;  // of this server's cgroup, below the root of each hierarchy
  CgroupFeatures featuresHere(const std::string& swaps) const;
  void chooseWeightFile(const CgroupMounts& mounts, const std::string& sys);
  std::string directoryOf(const char* v1Controller) const;
  void openV2(const CgroupMounts& mounts);
  Status limitCpu(AllocationId allocation, uint64_t cpuMicros) const;
  Status limitCpuV1(AllocationId allocation, uint64_t cpuMicros) const;
  void moveInto(const std::string& directory, AllocationId allocation) const;

  const std::vector<std::string> path_;
  std::vector<kj::AutoCloseFd> held_;      // this server's directories
  std::map<std::string, std::string> v1_;  // controller -> this server's directory
  std::string v2_;                         // this server's directory
  std::string cpuMount_, v2Mount_;         // of version 1's cpu controller, of version 2
  std::set<std::string> v2Controllers_;
  CgroupFeatures features_;
  std::vector<std::string> missingWeights_;  // as missing() names them
};

}  // namespace tarcil
