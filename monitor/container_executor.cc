#include "monitor/container_executor.h"

#include <fcntl.h>
#include <kj/debug.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include "env/failpoint.h"
#include "monitor/input_files.h"
#include "monitor/machine_support.h"
#include "monitor/shim_process.h"
#include "shim/plan.h"

namespace tarcil {
namespace {

// Between two looks at something that only changes within milliseconds, and then once.
constexpr Duration kLookAgain = std::chrono::milliseconds(10);
// How often the processes of a killed supervisor are waited for: ten seconds together.
constexpr int kLossTries = 1000;

constexpr const char* kSupervisorKilled =
    "its supervisor (tarcil-shim) was killed; how the command ended is not known";

std::vector<std::string> missingOn(const CgroupTree& cgroups, const SystemPaths& paths) {
  auto result = cgroups.missing();
  if (!hasHardwareCounters()) result.emplace_back("perf");
  if (!hasResctrl(paths.resctrl)) result.emplace_back("resctrl");
  return result;
}

Status check(const ContainerOptions& options) {
  if (::geteuid() != 0) return denied("running tasks takes root: start the monitor as root or with sudo");
  if (::access(options.shim.c_str(), X_OK) != 0) {
    return invalid("'" + options.shim + "' cannot be executed: tarcil-shim belongs beside tarcil");
  }
  std::error_code error;
  if (!options.workPoint.empty()) std::filesystem::create_directories(options.workPoint, error);
  if (error) return invalid("cannot make the folder '" + options.workPoint + "': " + error.message());
  return {};
}

// Why a task without an `exit` was never executed.
std::string neverStartedProblem(int waitStatus, const ContainerOptions& options,
                                const std::string& directory) {
  if (WIFEXITED(waitStatus) && WEXITSTATUS(waitStatus) == kShimBadPlan) {
    return "'" + options.shim + "' is of another build than the monitor: install both together";
  }
  if (WIFEXITED(waitStatus) && WEXITSTATUS(waitStatus) == kShimNoRecord) {
    return "cannot write into '" + directory + "': is the disk full?";
  }
  return "its supervisor (tarcil-shim) was killed before the command was executed";
}

TaskEnd lostEnd(WallTime started, WallTime now, std::string problem) {
  TaskEnd end;
  end.cause = EndCause::kLost;
  end.started = started;
  end.ended = now;
  end.problem = std::move(problem);
  return end;
}

// What a shell returns for a command that it cannot execute: it lies with the job and not with the server.
constexpr int kNotExecutable = 126;

TaskEnd neverStartedEnd(WallTime now, std::string problem) {
  TaskEnd end;
  end.cause = EndCause::kNeverStarted;
  end.ended = now;
  end.problem = std::move(problem);
  return end;
}

}  // namespace

Result<kj::Own<ContainerExecutor>> ContainerExecutor::open(ContainerOptions options, kj::UnixEventPort& port,
                                                           const Clock& clock, ExecutorListener& listener) {
  if (auto good = check(options); !good) return good.error();
  auto store = TaskStore::open(options.dataDirectory, options.keepDone);
  if (!store) return store.error();
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return Error{ErrorCode::kInternal, "cannot make a pipe: " + std::generic_category().message(errno)};
  }
  kj::AutoCloseFd reader(ends[0]), writer(ends[1]);
  ::fcntl(reader, F_SETFL, O_NONBLOCK);
  return kj::heap<ContainerExecutor>(std::move(options), port, clock, listener, std::move(*store),
                                     kj::mv(reader), kj::mv(writer));
}

ContainerExecutor::ContainerExecutor(ContainerOptions options, kj::UnixEventPort& port, const Clock& clock,
                                     ExecutorListener& listener, std::unique_ptr<TaskStore> store,
                                     kj::AutoCloseFd statusReader, kj::AutoCloseFd statusWriter)
    : options_(std::move(options)),
      port_(port),
      clock_(clock),
      listener_(listener),
      cgroups_(options_.system, "tarcil-" + options_.tag, options_.server),
      missing_(missingOn(cgroups_, options_.system)),
      pinByAffinity_(std::find(missing_.begin(), missing_.end(), kCpuset) != missing_.end()),
      store_(std::move(store)),
      statusReader_(kj::mv(statusReader)),
      statusWriter_(kj::mv(statusWriter)),
      statusObserver_(port, statusReader_, kj::UnixEventPort::FdObserver::OBSERVE_READ),
      tasks_(*this) {
  tasks_.add(watchStatus());
}

ContainerExecutor::~ContainerExecutor() noexcept {
  cgroups_.removeUnused();
}

void ContainerExecutor::record(const LaunchSpec& spec) {
  if (auto recorded = store_->record(spec); !recorded) {
    unrecorded_.insert_or_assign(spec.allocation, recorded.error());
    return;
  }
  failpoint("monitor.recorded");
}

// Shims count by the clock that runs on while the machine sleeps.
void ContainerExecutor::extendLease(MonotonicTime until) {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(until - clock_.now().steady);
  const int64_t end = now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec + left.count();
  if (auto written = store_->writeLease(end); !written) KJ_LOG(ERROR, written.error().message);
}

void ContainerExecutor::start(const LaunchSpec& spec, const std::vector<InputFile>& files) {
  const AllocationId allocation = spec.allocation;
  if (running_.contains(allocation)) return;
  const auto unrecorded = unrecorded_.find(allocation);
  const Status launched = unrecorded != unrecorded_.end() ? Status(unrecorded->second) : launch(spec, files);
  if (launched.ok()) return;
  unrecorded_.erase(allocation);
  later(Duration::zero(), [this, allocation, problem = launched.error()] {
    TaskEnd end = neverStartedEnd(clock_.now().wall, problem.message);
    const bool jobs = problem.code == ErrorCode::kInvalid || problem.code == ErrorCode::kNotFound;
    if (jobs) end.exitCode = kNotExecutable;
    listener_.taskEnded(allocation, end);
  });
}

TaskSetting ContainerExecutor::settingFor(const LaunchSpec& spec) const {
  TaskSetting setting;
  setting.taskDirectory = store_->directory(spec.allocation);
  setting.workPoint = options_.workPoint;
  for (const RuIndex ru : spec.rus) {
    if (!options_.cores.empty()) setting.cores.push_back(options_.cores[ru % options_.cores.size()]);
  }
  std::sort(setting.cores.begin(), setting.cores.end());
  setting.cores.erase(std::unique(setting.cores.begin(), setting.cores.end()), setting.cores.end());
  setting.memoryBytes =
      spec.limits.memoryBytes > 0 ? spec.limits.memoryBytes : options_.memoryPerRu * spec.rus.size();
  setting.pinByAffinity = pinByAffinity_;
  if (spec.exclusive) setting.leaseFile = store_->leaseFile();
  const uint32_t pids = spec.limits.pids > 0 ? spec.limits.pids : options_.defaultPids;
  setting.cgroups = cgroups_.forTask(spec.allocation, {setting.cores, setting.memoryBytes, pids});
  return setting;
}

Status ContainerExecutor::launch(const LaunchSpec& spec, const std::vector<InputFile>& files) {
  const auto user = users_.find(spec.user, clock_.now().steady);
  if (!user) return user.error();
  const TaskSetting setting = settingFor(spec);
  ShimStart start;
  start.allocation = spec.allocation;
  start.name = spec.jobName + "/" + std::to_string(spec.task);
  start.statusFd = statusWriter_;
  auto plan = encodePlan(spec, **user, setting);
  if (!plan) return plan.error();
  start.plan = std::move(*plan);
  auto lock = store_->lockForStart(spec.allocation);
  if (!lock) return lock.error();
  start.lockFd = *lock;
  auto work = store_->makeWork(spec.allocation, (*user)->uid, (*user)->gid);
  if (!work) return work.error();
  if (auto written = writeInputFiles(*work, files, (*user)->uid, (*user)->gid); !written) return written;

  const auto pid = spawnShim(options_.shim, start);
  if (!pid) return pid.error();
  failpoint("monitor.spawned");
  running_[spec.allocation].memoryLimit = setting.memoryBytes;
  // The lock is the shim's alone from here on.
  *lock = nullptr;
  if (auto pidfd = openPidfd(*pid); pidfd.get() >= 0) {
    watch(spec.allocation, kj::mv(pidfd));
  } else {
    adopt(spec.allocation);
  }
  return {};
}

// Where the disk does not take it, the task is signalled all the same: a successor then reports the signal.
void ContainerExecutor::recordReason(AllocationId allocation, EndCause reason) {
  if (auto recorded = store_->recordReason(allocation, reason); !recorded) {
    KJ_LOG(WARNING, recorded.error().message);
  }
}

void ContainerExecutor::signal(AllocationId allocation, int signal) {
  const auto found = running_.find(allocation);
  if (found == running_.end()) return;
  if (found->second.pidfd.get() < 0) {
    found->second.waitingSignals.push_back(signal);
  } else {
    requestSignal(found->second.pidfd, signal);
  }
}

void ContainerExecutor::forget(AllocationId allocation) {
  if (!running_.contains(allocation)) store_->forget(allocation);
}

std::vector<RecoveredTask> ContainerExecutor::recover() {
  std::vector<RecoveredTask> result;
  for (const AllocationId allocation : store_->forgotten()) {
    result.emplace_back().spec.allocation = allocation;
    result.back().state = RecoveredTask::State::kForgotten;
  }
  for (const AllocationId allocation : store_->tasks()) {
    const bool recorded = store_->launch(allocation).has_value();
    if (!recorded && !store_->lockHeld(allocation) && !store_->started(allocation)) {
      store_->discard(allocation);  // killed while it was written down: nobody was told of it
      continue;
    }
    result.push_back(recoverTask(allocation));
  }
  sweepCgroups();
  return result;
}

RecoveredTask ContainerExecutor::recoverTask(AllocationId allocation) {
  RecoveredTask task;
  task.spec = store_->launch(allocation).value_or(LaunchSpec{});
  task.spec.allocation = allocation;
  task.reason = store_->reason(allocation);
  if (store_->lockHeld(allocation)) return adopted(std::move(task));
  const auto started = store_->started(allocation);
  if (auto end = store_->exit(allocation, settingFor(task.spec).memoryBytes)) {
    task.end = std::move(*end);
  } else if (started) {
    task.end = lostEnd(*started, clock_.now().wall, kSupervisorKilled);
  } else {
    task.state = RecoveredTask::State::kNeverStarted;
  }
  return task;
}

RecoveredTask ContainerExecutor::adopted(RecoveredTask task) {
  task.state = RecoveredTask::State::kRunning;
  task.started = store_->started(task.spec.allocation).value_or(kNever);
  Running& running = running_[task.spec.allocation];
  running.memoryLimit = settingFor(task.spec).memoryBytes;
  running.startReported = task.started != kNever;
  adopt(task.spec.allocation);
  if (!running.startReported) lookForStart(task.spec.allocation);
  return task;
}

void ContainerExecutor::sweepCgroups() {
  int triesLeft = 2000;
  for (const AllocationId allocation : cgroups_.tasks()) {
    if (running_.contains(allocation)) continue;
    while (!cgroups_.remove(allocation) && triesLeft-- > 0) ::usleep(1000);
  }
}

void ContainerExecutor::watch(AllocationId allocation, kj::AutoCloseFd pidfd) {
  Running& running = running_[allocation];
  running.pidfd = kj::mv(pidfd);
  running.observer = kj::heap<kj::UnixEventPort::FdObserver>(port_, running.pidfd,
                                                             kj::UnixEventPort::FdObserver::OBSERVE_READ);
  tasks_.add(
      running.observer->whenBecomesReadable().then([this, allocation] { supervisorEnded(allocation); }));
  for (const int signal : std::exchange(running.waitingSignals, {})) requestSignal(running.pidfd, signal);
}

// The pid in the lock file is the shim's own if the lock was held when its pidfd was opened and still is
// afterwards.
void ContainerExecutor::adopt(AllocationId allocation) {
  if (!store_->lockHeld(allocation)) {
    later(Duration::zero(), [this, allocation] { supervisorEnded(allocation); });
    return;
  }
  if (const auto pid = store_->supervisor(allocation)) {
    kj::AutoCloseFd pidfd = openPidfd(*pid);
    if (pidfd.get() >= 0 && store_->lockHeld(allocation)) {
      watch(allocation, kj::mv(pidfd));
      return;
    }
  }
  later(kLookAgain, [this, allocation] { adopt(allocation); });
}

// For the start of an adopted task, whose shim tells a pipe that is gone.
void ContainerExecutor::lookForStart(AllocationId allocation) {
  later(kLookAgain, [this, allocation] {
    const auto found = running_.find(allocation);
    if (found == running_.end() || found->second.startReported) return;
    if (const auto started = store_->started(allocation)) {
      reportStart(allocation, *started);
    } else {
      lookForStart(allocation);
    }
  });
}

kj::Promise<void> ContainerExecutor::watchStatus() {
  return statusObserver_.whenBecomesReadable().then([this] {
    readStatus();
    return watchStatus();
  });
}

void ContainerExecutor::readStatus() {
  char buffer[4096];
  for (ssize_t count; (count = ::read(statusReader_, buffer, sizeof buffer)) > 0;) {
    statusText_.append(buffer, static_cast<size_t>(count));
  }
  size_t from = 0;
  for (size_t to; (to = statusText_.find('\n', from)) != std::string::npos; from = to + 1) {
    AllocationId allocation = 0;
    int64_t when = 0;
    const char* end = statusText_.data() + to;
    const auto first = std::from_chars(statusText_.data() + from, end, allocation);
    if (first.ptr != end) std::from_chars(first.ptr + 1, end, when);
    reportStart(allocation, WallTime(Duration(when)));
  }
  statusText_.erase(0, from);
}

void ContainerExecutor::supervisorEnded(AllocationId allocation) {
  const auto found = running_.find(allocation);
  if (found == running_.end()) return;
  readStatus();
  const int waitStatus = found->second.pidfd.get() >= 0 ? reap(found->second.pidfd) : 0;
  if (const auto end = store_->exit(allocation, found->second.memoryLimit)) {
    if (end->started != kNever) reportStart(allocation, end->started);
    reportEnd(allocation, *end);
  } else {
    reportLoss(allocation, waitStatus, kLossTries);
  }
}

// Its processes die with the supervisor, but not at the same instant: the end is reported when their cgroups
// are empty.
void ContainerExecutor::reportLoss(AllocationId allocation, int waitStatus, int triesLeft) {
  if (!cgroups_.remove(allocation) && triesLeft > 0) {
    later(kLookAgain,
          [this, allocation, waitStatus, triesLeft] { reportLoss(allocation, waitStatus, triesLeft - 1); });
    return;
  }
  const auto started = store_->started(allocation);
  if (!started) {
    reportEnd(allocation,
              neverStartedEnd(clock_.now().wall,
                              neverStartedProblem(waitStatus, options_, store_->directory(allocation))));
    return;
  }
  reportStart(allocation, *started);
  reportEnd(allocation, lostEnd(*started, clock_.now().wall, kSupervisorKilled));
}

void ContainerExecutor::reportStart(AllocationId allocation, WallTime when) {
  const auto found = running_.find(allocation);
  if (found == running_.end() || std::exchange(found->second.startReported, true)) return;
  listener_.taskStarted(allocation, when);
}

void ContainerExecutor::reportEnd(AllocationId allocation, const TaskEnd& end) {
  running_.erase(allocation);
  listener_.taskEnded(allocation, end);
}

void ContainerExecutor::later(Duration delay, kj::Function<void()> action) {
  auto wait = delay == Duration::zero() ? kj::Promise<void>(kj::evalLater([] {}))
                                        : port_.getTimer().afterDelay(delay.count() * kj::MICROSECONDS);
  tasks_.add(wait.then([action = kj::mv(action)]() mutable { action(); }));
}

void ContainerExecutor::taskFailed(kj::Exception&& exception) {
  KJ_LOG(ERROR, exception);
}

}  // namespace tarcil
