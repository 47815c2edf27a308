// What a task's launch, user and cgroups come to for tarcil-shim (shim/plan.h).
#pragma once

#include <string>

#include "core/model/launch.h"
#include "monitor/container/system_user.h"
#include "monitor/logic/cgroup/cgroup.h"
#include "monitor/logic/devices/extra_devices.h"
#include "shim/plan.h"

namespace tarcil {

// Name in the task's private directory of the file that TARCIL_HOSTFILE names.
inline constexpr const char* kHostFileName = ".tarcil-hosts";

struct TaskSetting {
  std::string taskDirectory;    // absolute
  std::string leaseFile;        // of an exclusive task; else empty
  std::string program;          // executed whatever the command's first word says; empty: that is looked for
  std::string workPoint;        // where the task sees its private directory; empty: below taskDirectory
  std::string root;             // its root file system, without symbolic links on the way; empty: the host's
  std::vector<uint32_t> cores;  // of the task's resource units; ascending, without repetition
  uint64_t memoryBytes = 0;     // the limit that holds; 0: none
  bool pinByAffinity =
      false;  // no cpuset here: keep the task on its cores by its affinity, which it can change
  TaskCgroups cgroups;
  Duration readerWait = std::chrono::minutes(5);  // that a streamed task waits for whoever takes its output
  // That a disk of the user's may take to open files of theirs, and to write the last of the output.
  Duration fileWait = std::chrono::minutes(1);
  // The command is crun, which gives up privileges later; its environment is fixed.
  Privileges privileges = kNoPrivileges;
  std::string filter;               // of its system calls (monitor/container/syscall_filter.h); empty: none
  std::string deviceFilter;         // of its use of devices (monitor/container/device_filter.h); empty: none
  std::vector<DeviceNode> devices;  // of its extras: what it has in a /dev of its own
  // Without a root file system of its own: whether it sees the host's files as they are, else which paths of
  // the host it may write to, and which it does not see; absolute, without symbolic links on the way.
  bool hostView = false;
  std::vector<std::string> shares;
  std::vector<std::string> hidden;
};

// Whether the task is to say itself how well it does (monitor/performance/metric_inbox.h).
bool reportsMetric(const LaunchSpec& spec);

// The command's environment, as NAME=value: a login-like base (PATH, HOME, USER, LOGNAME, SHELL, TMPDIR), the
// job's variables over it, and TARCIL_JOB, _JOB_NAME, _TASK, _TASKS, _ATTEMPT, _CORES ("0-1,4"), _MEMORY
// (bytes) and TARCIL_EXTRA_<KIND> ("0,3") over all. TARCIL_METRIC_SOCKET and _FILE where reportsMetric();
// TARCIL_SECRETS, the folder of its secrets, where it has some; TARCIL_RANK, _HOSTS and _HOSTFILE for a task
// of a gang (core/model/gang_hosts.h). CUDA_VISIBLE_DEVICES for a task with gpus, unless the job sets it.
std::map<std::string, std::string> taskEnvironment(const LaunchSpec& spec, const SystemUser& user,
                                                   const TaskSetting& setting);

// The plan's bytes. Strings with a NUL inside cannot be passed on: kInvalid. So is an empty command.
Result<std::string> encodePlan(const LaunchSpec& spec, const SystemUser& user, const TaskSetting& setting);

}  // namespace tarcil
