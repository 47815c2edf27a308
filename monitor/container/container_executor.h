// Runs tasks for real: each in namespaces and cgroups of its own, under a tarcil-shim that outlives
// the monitor.
//
//   monitor -> tarcil-shim (own session, outside the task's limits) -> init of the pid namespace -> command
//
// The command runs as the launch's user, without capabilities or new privileges, in own pid, mount, ipc
// and uts namespaces, with the system calls that syscall_filter.h names, limited by the cpuset, memory,
// pids and I/O controllers that the machine has, kept from the devices of extras that it does not hold, with
// stdin from /dev/null, stdout and stderr into files, and nothing of the monitor's environment and
// descriptors. It dies with its shim; the shim survives the monitor. monitor/container/task_store.h says what
// is on disk and what a successor concludes from it.
#pragma once

#include <kj/async-unix.h>
#include <kj/async.h>
#include <kj/function.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "env/clock.h"
#include "env/stop.h"
#include "monitor/container/cgroup_tree.h"
#include "monitor/container/container_options.h"
#include "monitor/container/disk_watch.h"
#include "monitor/container/image_store.h"
#include "monitor/container/project_quota.h"
#include "monitor/container/result_collector.h"
#include "monitor/container/shim_plan.h"
#include "monitor/container/system_user.h"
#include "monitor/container/task_store.h"
#include "monitor/container/task_view.h"
#include "monitor/logic/executor.h"
#include "monitor/performance/task_meter.h"
#include "monitor/pressure/traffic_limit.h"

namespace tarcil {

// One per server. Lives on the thread of its event port; no method waits for a task. Destroying it leaves the
// tasks running, as a kill -9 does. Ends are reported with the causes kExited, kNeverStarted and kLost:
// whether an exit was a cancellation or a timeout is known to the one who asked for the signal.
class ContainerExecutor final : public Executor {
 public:
  // `port`, `clock` and `listener` outlive the executor.
  // kDenied: not root. kInvalid: the shim or an option is wrong, or takes what this machine lacks.
  // kUnavailable: another monitor uses the data directory.
  static Result<kj::Own<ContainerExecutor>> open(ContainerOptions options, kj::UnixEventPort& port,
                                                 const Clock& clock, ExecutorListener& listener);

  // For open() only.
  ContainerExecutor(ContainerOptions options, kj::UnixEventPort& port, const Clock& clock,
                    ExecutorListener& listener, std::unique_ptr<TaskStore> store,
                    kj::AutoCloseFd statusReader, kj::AutoCloseFd statusWriter);

  ~ContainerExecutor() noexcept override;

  // A record that cannot be written makes the start fail.
  void record(const LaunchSpec& spec) override;
  void extendLease(MonotonicTime until) override;
  // Requires: recorded. A task that runs is left alone, and so is one whose image is being fetched. Files are
  // written before this returns, of a task with an image before it starts.
  void start(const LaunchSpec& spec, const std::vector<InputFile>& files,
             const std::vector<TaskSecret>& secrets) override;
  void recordReason(AllocationId allocation, EndCause reason) override;
  Status resize(AllocationId allocation, const std::vector<RuIndex>& rus) override;
  // Of disks and network by what noteUseRates() says; for a task of which nothing is known, not at all.
  Status throttle(AllocationId allocation, const Throttle& throttle) override;
  void signal(AllocationId allocation, int signal) override;
  void forget(AllocationId allocation) override;
  // Also removes cgroups of tasks that are gone. Waits up to two seconds for the processes of a
  // killed supervisor.
  std::vector<RecoveredTask> recover() override;

  // What this machine does not give: of "cpuset", "memory", "pids", "io-weight" or "io-weight:DISK",
  // "io-limit", "device-filter", "seccomp", "user-namespaces", "own-network", "perf", "resctrl",
  // "disk-quota".
  const std::vector<std::string>& missing() const { return missing_; }

  // Why tasks have no quota of the disk, and it is looked at instead what they take up; empty: they have one.
  std::string whyNoDiskQuota() const { return quotas_ ? std::string() : quotas_.error().message; }

  // Cgroups that hold all tasks, and count what they use.
  CgroupDirectories counted() const { return cgroups_.counted(); }

  // What is kept until the next call for the same task.
  void noteUseRates(const std::map<AllocationId, UseRates>& rates);

  // Tasks whose command was executed and whose end was not reported, by allocation.
  std::vector<RunningTask> running() const;

 private:
  // A task between its start (or adoption) and the report of its end.
  struct Running {
    uint64_t memoryLimit = 0;
    bool startReported = false;
    bool keepsResults = false;
    std::optional<TaskEnd> end;  // that is reported once its result files are kept
    JobId job;
    std::string image;  // digest of the image that it runs in; empty: it runs in none
    std::optional<PerformanceGoal> goal;
    double earlier = 0;  // as LaunchSpec::earlier
    Pressure caused{}, tolerated{};
    std::vector<uint32_t> cores;
    Throttle throttle;
    UseRates rates;  // each while it was not throttled
    std::optional<TrafficLimit> traffic;
    std::unique_ptr<MetricInbox> inbox;  // of a task that reports its performance
    std::vector<int> waitingSignals;     // asked for before the pidfd was there
    kj::AutoCloseFd pidfd;
    kj::Own<kj::UnixEventPort::FdObserver> observer;  // of pidfd
  };

  // A task whose image is looked for, and fetched where it is not there yet.
  struct Awaiting {
    LaunchSpec spec;
    std::vector<InputFile> files;
    std::vector<TaskSecret> secrets;
  };

  void findImage(const LaunchSpec& spec, const std::vector<InputFile>& files,
                 const std::vector<TaskSecret>& secrets);
  void imageFound(AllocationId allocation, const Result<ImageStore::Image>& image);
  std::set<std::string> imagesInUse() const;
  void failToStart(AllocationId allocation, const Error& problem);
  // Takes on what the image says. `setting` and `spec` follow.
  Status enterImage(TaskSetting& setting, LaunchSpec& spec) const;
  void endThrottle(AllocationId allocation, Running& running) const;
  Status throttleAll(AllocationId allocation, Running& running, const Throttle& throttle) const;
  Status throttleDisksAndCores(AllocationId allocation, Running& running, const Throttle& throttle) const;
  Status throttleNetwork(AllocationId allocation, Running& running, double share) const;
  uint64_t memoryLimitOf(const LaunchSpec& spec) const;
  uint64_t diskLimitOf(const LaunchSpec& spec) const;
  Status checkDisk() const;
  // The folders work and tmp are there, and empty.
  Status limitDisk(const LaunchSpec& spec, const std::vector<InputFile>& files) const;
  void watchDisk(const LaunchSpec& spec);
  void releaseDisk(AllocationId allocation) const;
  kj::Promise<void> watchOverruns();
  std::vector<uint32_t> coresFor(const LaunchSpec& spec) const;
  Result<TaskSetting> settingFor(const LaunchSpec& spec) const;
  // Lets crun run the task: writes its configuration and makes it the command. `setting` and `spec` follow.
  Status enterBundle(const SystemUser& user, TaskSetting& setting, LaunchSpec& spec) const;
  void pruneHourly();
  void touchImage(const std::string& digest) const;
  LaunchSpec withUnits(LaunchSpec spec, const std::vector<RuIndex>& rus) const;
  TaskLimits limitsOf(const LaunchSpec& spec, const TaskSetting& setting) const;
  Result<SystemUser> userOf(const LaunchSpec& spec);
  Status launch(const LaunchSpec& spec, const std::vector<InputFile>& files,
                const std::vector<TaskSecret>& secrets);
  void watchPerformance(const LaunchSpec& spec, const std::vector<uint32_t>& cores);
  // As its shim wrote it down, with what is known of a kill for memory or for the disk; nullopt: it has not.
  std::optional<TaskEnd> endOf(AllocationId allocation, uint64_t memoryLimit) const;
  RecoveredTask recoverTask(AllocationId allocation);
  RecoveredTask adopted(RecoveredTask task);
  // Of a task that has ended, and whose result files are still to be kept.
  RecoveredTask keepingResults(RecoveredTask task);
  void denyDevices(const LaunchSpec& spec) const;
  void sweepCgroups();

  void watch(AllocationId allocation, kj::AutoCloseFd pidfd);
  void adopt(AllocationId allocation);
  void lookForStart(AllocationId allocation);
  kj::Promise<void> watchStatus();
  void readStatus();
  void supervisorEnded(AllocationId allocation);
  void reportLoss(AllocationId allocation, int waitStatus, int tries);
  // Of a task whose supervisor is gone and whose processes are not yet.
  RecoveredTask lingering(RecoveredTask task, WallTime started);
  void reportStart(AllocationId allocation, WallTime when);
  // Once its result files are kept, if it is to have any.
  void reportEnd(AllocationId allocation, const TaskEnd& end);
  void reportEndNow(AllocationId allocation, const TaskEnd& end);
  kj::Promise<void> watchResults();
  void later(Duration delay, kj::Function<void()> action);

  const ContainerOptions options_;
  kj::UnixEventPort& port_;
  const Clock& clock_;
  ExecutorListener& listener_;
  CgroupTree cgroups_;
  const TaskView view_;
  const Result<std::string> filter_;    // of system calls; no task starts without
  const Status devices_;                // whether tasks are kept from all that are not theirs
  const Result<ProjectQuotas> quotas_;  // of the disk that tasks work on
  const std::vector<std::string> missing_;
  const bool pinByAffinity_;     // there is no cpuset
  const Privileges privileges_;  // of what makes containers
  const std::unique_ptr<TaskStore> store_;
  const std::unique_ptr<ImageStore> images_;  // null: no task has an image here
  std::map<AllocationId, Awaiting> awaiting_;
  UserDirectory users_;
  std::map<AllocationId, Running> running_;
  std::map<AllocationId, Error> unrecorded_;  // launches whose record could not be written
  // All shims write their one line into the same pipe; this end stays open so that it never ends.
  const kj::AutoCloseFd statusReader_;
  const kj::AutoCloseFd statusWriter_;
  kj::UnixEventPort::FdObserver statusObserver_;
  DiskWatch diskWatch_;
  kj::UnixEventPort::FdObserver overrunObserver_;
  ResultCollector results_;
  kj::UnixEventPort::FdObserver resultsObserver_;
  std::string statusText_;
  // Without what one of these does, a task would never be seen to end.
  StopsIfFailed stops_{"looking after tasks"};
  kj::TaskSet tasks_;  // last: its continuations use all of the above
};

}  // namespace tarcil
