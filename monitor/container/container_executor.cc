#include "monitor/container/container_executor.h"

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

#include "core/base/units.h"
#include "env/failpoint.h"
#include "env/machine.h"
#include "monitor/container/core_choice.h"
#include "monitor/container/device_filter.h"
#include "monitor/container/disk_walk.h"
#include "monitor/container/input_files.h"
#include "monitor/container/machine_support.h"
#include "monitor/container/memory_kill.h"
#include "monitor/container/oci_bundle.h"
#include "monitor/container/own_network.h"
#include "monitor/container/own_users.h"
#include "monitor/container/root_policy.h"
#include "monitor/container/shim_process.h"
#include "monitor/container/syscall_filter.h"
#include "monitor/container/task_records.h"
#include "monitor/container/task_results.h"
#include "monitor/pressure/cache_monitor.h"
#include "shim/plan.h"

namespace tarcil {
namespace {

Error rootRefused(const std::string& user) {
  return denied(
      "user: " + user +
      " is root on this server, whose operator lets no task run as that (the monitor's --allow-root)");
}

// Between two looks at something that only changes within milliseconds, and then once.
constexpr Duration kLookAgain = std::chrono::milliseconds(10);
// The processes of a killed supervisor are waited for so often, ten seconds together; those that stay even
// then hang in the kernel, and are looked at from time to time.
constexpr int kLossTries = 1000;
constexpr Duration kLookAtHanging = std::chrono::seconds(1);

// That a limit of network traffic is tried with, on tasks that may be running: it limits nothing.
constexpr double kAnyRate = 1e18;

constexpr const char* kSupervisorKilled =
    "its supervisor (tarcil-shim) was killed; how the command ended is not known";

std::vector<std::string> cgroupPathOf(const ContainerOptions& options) {
  std::vector<std::string> path = {"tarcil-" + options.tag, options.server};
  if (!options.group.empty()) path.push_back(options.group);
  return path;
}

// What user namespaces are called among what a machine lacks.
constexpr const char* kUserNamespaces = "user-namespaces";

Status keepToDevices(const CgroupTree& cgroups, const ContainerOptions& options, const TaskView& view) {
  if (options.hostView) return {};
  std::vector<DeviceNumber> granted = view.devices;
  for (const ExtraDevice& device : options.extraDevices) granted.push_back(device.node.number);
  return allowDevices(cgroups.counted().unified, granted);
}

std::vector<std::string> missingOn(const CgroupTree& cgroups, const ContainerOptions& options,
                                   const Status& devices, const Result<std::string>& filter,
                                   const Result<ProjectQuotas>& quotas) {
  auto result = cgroups.missing();
  if (!devices.ok()) result.emplace_back("device-filter");
  if (!TrafficLimit::open(cgroups.counted().unified, options.interfaces, kAnyRate)) {
    result.emplace_back(kNetworkLimit);
  }
  const CacheControls controls = options.cache == nullptr ? CacheControls{} : options.cache->controls();
  if (!controls.leastWays) result.emplace_back(kCacheLimit);
  if (!controls.bandwidth) result.emplace_back(kMemoryBandwidthLimit);
  if (!filter) result.emplace_back("seccomp");
  if (!canMakeOwnUsers()) result.emplace_back(kUserNamespaces);
  if (!canMakeOwnNetworks()) result.emplace_back("own-network");
  if (!hasHardwareCounters()) result.emplace_back("perf");
  if (!hasResctrl(options.system.resctrl)) result.emplace_back("resctrl");
  if (!quotas) result.emplace_back("disk-quota");
  return result;
}

// A task on the server's own files may use the server's own tarcil by this word, wherever it is installed.
bool runsTarcil(const LaunchSpec& spec) {
  return !spec.command.empty() && spec.command.front() == "tarcil" && spec.container.seesTheServer();
}

// A weight of 100 is what the kernel gives to everybody, so each unit counts as much as a process outside.
constexpr uint32_t kIoWeightOfUnit = 100;

// Between two looks for output that has become too old.
constexpr Duration kPruneEvery = std::chrono::hours(1);

// Of limits of which 0 is none.
template <typename Number>
Number atMost(Number most, Number asked) {
  return most > 0 && (asked == 0 || asked > most) ? most : asked;
}

// What files take up at least.
uint64_t diskBytesOf(const std::vector<InputFile>& files) {
  uint64_t bytes = 0;
  for (const InputFile& file : files)
    bytes += std::max<uint64_t>(file.content.size(), DiskWalk::kMinFileBytes);
  return bytes;
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
  const uint64_t memory = options.memoryBytes;
  const bool hasDevices = !options.extraDevices.empty();
  auto executor = kj::heap<ContainerExecutor>(std::move(options), port, clock, listener, std::move(*store),
                                              kj::mv(reader), kj::mv(writer));
  if (memory > 0) {
    if (Status limited = executor->cgroups_.limitMemory(memory); !limited.ok()) return limited.error();
  }
  if (hasDevices) {
    if (Status denies = tryDeviceFilter(executor->counted().unified); !denies.ok()) return denies.error();
  }
  return executor;
}

ContainerExecutor::ContainerExecutor(ContainerOptions options, kj::UnixEventPort& port, const Clock& clock,
                                     ExecutorListener& listener, std::unique_ptr<TaskStore> store,
                                     kj::AutoCloseFd statusReader, kj::AutoCloseFd statusWriter)
    : options_(std::move(options)),
      port_(port),
      clock_(clock),
      listener_(listener),
      cgroups_(options_.system, cgroupPathOf(options_)),
      view_(taskViewOf(options_)),
      filter_(systemCallFilter()),
      devices_(keepToDevices(cgroups_, options_, view_)),
      quotas_(ProjectQuotas::open(options_.dataDirectory)),
      missing_(missingOn(cgroups_, options_, devices_, filter_, quotas_)),
      pinByAffinity_(std::find(missing_.begin(), missing_.end(), kCpuset) != missing_.end()),
      privileges_(std::find(missing_.begin(), missing_.end(), kUserNamespaces) != missing_.end()
                      ? kPrivilegesOnServer
                      : kPrivilegesOfItsOwn),
      store_(std::move(store)),
      images_(options_.images.program.empty()
                  ? nullptr
                  : std::make_unique<ImageStore>(
                        options_.images,
                        ImageStore::Place{options_.dataDirectory + "/images",
                                          options_.workPoint.empty() ? "/tmp" : options_.workPoint,
                                          options_.diskReserve},
                        port, clock, [this]() { return imagesInUse(); })),
      statusReader_(kj::mv(statusReader)),
      statusWriter_(kj::mv(statusWriter)),
      statusObserver_(port, statusReader_, kj::UnixEventPort::FdObserver::OBSERVE_READ),
      diskWatch_(options_.diskPause),
      overrunObserver_(port, diskWatch_.fd(), kj::UnixEventPort::FdObserver::OBSERVE_READ),
      results_(clock),
      resultsObserver_(port, results_.fd(), kj::UnixEventPort::FdObserver::OBSERVE_READ),
      tasks_(stops_) {
  tasks_.add(watchStatus());
  tasks_.add(watchOverruns());
  tasks_.add(watchResults());
  pruneHourly();
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

void ContainerExecutor::start(const LaunchSpec& spec, const std::vector<InputFile>& files,
                              const std::vector<TaskSecret>& secrets) {
  const AllocationId allocation = spec.allocation;
  if (running_.contains(allocation) || awaiting_.contains(allocation)) return;
  const auto unrecorded = unrecorded_.find(allocation);
  if (unrecorded == unrecorded_.end() && !spec.container.image.empty())
    return findImage(spec, files, secrets);
  const Status launched =
      unrecorded != unrecorded_.end() ? Status(unrecorded->second) : launch(spec, files, secrets);
  if (!launched.ok()) failToStart(allocation, launched.error());
}

void ContainerExecutor::failToStart(AllocationId allocation, const Error& problem) {
  unrecorded_.erase(allocation);
  later(Duration::zero(), [this, allocation, problem] {
    TaskEnd end = neverStartedEnd(clock_.now().wall, problem.message);
    const bool jobs = problem.code == ErrorCode::kInvalid || problem.code == ErrorCode::kNotFound ||
                      problem.code == ErrorCode::kDenied;
    if (jobs) end.exitCode = kNotExecutable;
    listener_.taskEnded(allocation, end);
  });
}

// What was asked for may have been there already, and nobody is told from inside of start().
void ContainerExecutor::findImage(const LaunchSpec& spec, const std::vector<InputFile>& files,
                                  const std::vector<TaskSecret>& secrets) {
  const AllocationId allocation = spec.allocation;
  if (images_ == nullptr)
    return failToStart(allocation, notFound("container.image: this server runs no images; use rootfs"));
  if (Status room = checkDisk(); !room.ok()) return failToStart(allocation, room.error());
  awaiting_.emplace(allocation, Awaiting{spec, files, secrets});
  tasks_.add(
      images_->find(spec.submitter, spec.container.image, spec.container.imageDigest)
          .then([this, allocation](Result<ImageStore::Image>&& image) { imageFound(allocation, image); }));
}

void ContainerExecutor::imageFound(AllocationId allocation, const Result<ImageStore::Image>& image) {
  auto awaiting = awaiting_.extract(allocation);
  if (!awaiting) return;  // it was stopped meanwhile
  if (!image) return failToStart(allocation, image.error());
  LaunchSpec& spec = awaiting.mapped().spec;
  spec.container.imageDigest = image->digest;
  Status launched = store_->recordImage(allocation, image->digest);
  if (launched.ok()) {
    listener_.imageFound(allocation, image->digest);
    launched = launch(spec, awaiting.mapped().files, awaiting.mapped().secrets);
  }
  if (!launched.ok()) failToStart(allocation, launched.error());
}

std::set<std::string> ContainerExecutor::imagesInUse() const {
  std::set<std::string> digests;
  for (const auto& [allocation, running] : running_) digests.insert(running.image);
  for (const auto& [allocation, awaiting] : awaiting_) digests.insert(awaiting.spec.container.imageDigest);
  return digests;
}

void ContainerExecutor::touchImage(const std::string& digest) const {
  if (images_ != nullptr && !digest.empty()) images_->touch(digest);
}

// What is shipped with a task or kept of it is in its private folder, and so is the list of its gang's hosts.
Status ContainerExecutor::enterImage(TaskSetting& setting, LaunchSpec& spec) const {
  const auto image = images_->open(spec.container.imageDigest);
  if (!image) return image.error();
  setting.root = image->root;
  const bool keepsPrivate = spec.hasFiles || !spec.results.empty();
  return addImageConfig(image->config, keepsPrivate, spec);
}

uint64_t ContainerExecutor::memoryLimitOf(const LaunchSpec& spec) const {
  return atMost(options_.mostMemory, spec.limits.memoryBytes > 0 ? spec.limits.memoryBytes
                                                                 : options_.memoryPerRu * spec.rus.size());
}

uint64_t ContainerExecutor::diskLimitOf(const LaunchSpec& spec) const {
  if (spec.limits.diskBytes > 0) return spec.limits.diskBytes;
  return options_.diskPerTask > 0 ? options_.diskPerTask : options_.diskPerRu * spec.rus.size();
}

Status ContainerExecutor::checkDisk() const {
  const auto free = freeDiskBytes(options_.dataDirectory);
  if (!free || *free >= options_.diskReserve)
    return {};  // what is written next says why it cannot be reached
  return Error{ErrorCode::kUnavailable,
               "its server takes no new tasks: the disk of '" + options_.dataDirectory + "' has " +
                   formatSize(*free) + " left, and " + formatSize(options_.diskReserve) +
                   " are to be left (--disk-reserve of its monitor); make room there"};
}

// Input files are written as root, whom quotas do not stop everywhere.
Status ContainerExecutor::limitDisk(const LaunchSpec& spec, const std::vector<InputFile>& files) const {
  const uint64_t limit = diskLimitOf(spec);
  if (!quotas_ || limit == 0) return {};
  if (const uint64_t bytes = diskBytesOf(files); bytes > limit) {
    return invalid("its input files take up " + formatSize(bytes) + " on the disk, more than its " +
                   formatSize(limit) + " (limits.disk of the job); ask for more, or send less");
  }
  const std::string directory = store_->directory(spec.allocation);
  return quotas_->limit(directory + "/work", directory + "/tmp", spec.allocation, limit);
}

void ContainerExecutor::watchDisk(const LaunchSpec& spec) {
  const uint64_t limit = diskLimitOf(spec);
  const std::string directory = store_->directory(spec.allocation);
  const std::string work = directory + "/work";
  if (limit == 0) return;
  diskWatch_.watch(spec.allocation, {work, directory + "/tmp", cgroups_.processesFile(spec.allocation)},
                   {limit, quotas_ && quotas_->limits(work)});
}

void ContainerExecutor::releaseDisk(AllocationId allocation) const {
  if (quotas_) quotas_->release(store_->directory(allocation) + "/work");
}

// At once, as for memory: it might write on during its grace.
kj::Promise<void> ContainerExecutor::watchOverruns() {
  return overrunObserver_.whenBecomesReadable().then([this] {
    for (const DiskWatch::Overrun& overrun : diskWatch_.overruns()) {
      if (!running_.contains(overrun.allocation)) continue;
      if (auto recorded = store_->recordOverrun(overrun.allocation, overrun.problem); !recorded) {
        KJ_LOG(WARNING, recorded.error().message);
      }
      signal(overrun.allocation, SIGKILL);
    }
    return watchOverruns();
  });
}

// By affinity alone nobody can tell later which cores a task was given.
std::vector<uint32_t> ContainerExecutor::coresFor(const LaunchSpec& spec) const {
  if (options_.unitsShareCores || pinByAffinity_) return fixedCores(options_.units, spec.rus);
  std::set<uint32_t> taken, own;
  for (const auto& [allocation, running] : running_) {
    (allocation == spec.allocation ? own : taken).insert(running.cores.begin(), running.cores.end());
  }
  return chooseCores(options_.units, taken, own, spec.rus);
}

Result<TaskSetting> ContainerExecutor::settingFor(const LaunchSpec& spec) const {
  if (!filter_) return filter_.error();
  TaskSetting setting;
  if (!spec.container.rootfs.empty()) {
    auto root = allowedRoot(spec.container.rootfs, options_.allowedRoots);
    if (!root) return root.error();
    setting.root = std::move(*root);
  }
  setting.taskDirectory = store_->directory(spec.allocation);
  setting.workPoint = options_.workPoint;
  setting.cores = coresFor(spec);
  setting.memoryBytes = memoryLimitOf(spec);
  setting.filter = *filter_;
  setting.deviceFilter = deviceFilter(deniedDevices(options_.extraDevices, spec.extras));
  setting.devices = grantedNodes(options_.extraDevices, spec.extras);
  setting.hostView = options_.hostView;
  setting.shares = view_.shares;
  setting.hidden = view_.hidden;
  setting.pinByAffinity = pinByAffinity_;
  setting.fileWait = options_.fileWait;
  setting.readerWait = options_.readerWait;
  if (runsTarcil(spec)) setting.program = options_.tarcil;
  if (spec.exclusive) setting.leaseFile = store_->leaseFile();
  setting.cgroups = cgroups_.forTask(spec.allocation, limitsOf(spec, setting));
  return setting;
}

TaskLimits ContainerExecutor::limitsOf(const LaunchSpec& spec, const TaskSetting& setting) const {
  TaskLimits limits;
  limits.cores = setting.cores;
  limits.memoryBytes = setting.memoryBytes;
  limits.memoryLowBytes = std::min(setting.memoryBytes, options_.memoryPerRu * spec.rus.size());
  limits.pids = atMost(options_.mostPids, spec.limits.pids > 0 ? spec.limits.pids : options_.defaultPids);
  limits.ioWeight = kIoWeightOfUnit * static_cast<uint32_t>(spec.rus.size());
  limits.disks = options_.disks;
  limits.diskBytesPerSecond = spec.limits.diskBytesPerSecond;
  return limits;
}

Status ContainerExecutor::enterBundle(const SystemUser& user, TaskSetting& setting, LaunchSpec& spec) const {
  if (options_.crun.empty()) {
    return notFound(
        "container.bundle takes crun, which this server does not have: place the job with 'crun = true'");
  }
  const auto folder = allowedRoot(spec.container.bundle, options_.allowedRoots);
  if (!folder) return folder.error();
  const auto bundle = readBundle(*folder);
  if (!bundle) return bundle.error();
  const auto root = allowedRoot(bundle->root, options_.allowedRoots);
  if (!root) return root.error();

  CrunContainer container;
  container.root = *root;
  container.command = spec.command;
  container.env = taskEnvironment(spec, user, setting);
  for (const auto& [name, value] : bundle->env) {
    if (!spec.env.contains(name) && !name.starts_with("TARCIL_")) container.env[name] = value;
  }
  container.work = setting.taskDirectory + "/work";
  container.workPoint = options_.workPoint;
  container.workdir = spec.workdir.empty() ? options_.workPoint : spec.workdir;
  container.temporary = setting.taskDirectory + "/tmp";
  container.uid = user.uid;
  container.gid = user.gid;
  container.groups = user.groups;
  container.devices = setting.devices;
  container.filter = setting.filter;
  container.hasSecrets = !spec.secrets.empty();
  if (auto written = store_->writeContainer(spec.allocation, crunConfig(container)); !written) return written;
  // Its own files go to the task's /tmp, which the command does not see that way.
  spec.command = crunCommand(options_.crun, setting.taskDirectory, "/tmp/crun");
  spec.workdir.clear();
  setting.privileges = privileges_;
  return {};
}

// In the groups that tasks may be in.
Result<SystemUser> ContainerExecutor::userOf(const LaunchSpec& spec) {
  const auto found = users_.find(spec.user, clock_.now().steady);
  if (!found) return found.error();
  SystemUser user = **found;
  std::erase_if(user.groups, [this, &user](gid_t group) {
    return group != user.gid &&
           std::find(options_.groups.begin(), options_.groups.end(), group) == options_.groups.end();
  });
  return user;
}

Status ContainerExecutor::launch(const LaunchSpec& spec, const std::vector<InputFile>& files,
                                 const std::vector<TaskSecret>& secrets) {
  if (secrets.size() != spec.secrets.size())
    return invalid("its launch names other secrets than its job: its agent is of another version");
  if (Status room = checkDisk(); !room.ok()) return room;
  const auto user = userOf(spec);
  if (!user) return user.error();
  if (user->uid == 0 && !options_.allowRoot) return rootRefused(spec.user);
  auto setting = settingFor(spec);
  if (!setting) return setting.error();
  ShimStart start;
  start.allocation = spec.allocation;
  start.name = spec.jobName + "/" + std::to_string(spec.task);
  start.statusFd = statusWriter_;
  start.secrets = secrets;
  LaunchSpec executed = spec;
  if (!spec.container.image.empty()) {
    if (Status entered = enterImage(*setting, executed); !entered.ok()) return entered;
  }
  if (!spec.container.bundle.empty()) {
    if (auto entered = enterBundle(*user, *setting, executed); !entered) return entered;
  }
  auto plan = encodePlan(executed, *user, *setting);
  if (!plan) return plan.error();
  start.plan = std::move(*plan);
  auto lock = store_->lockForStart(spec.allocation);
  if (!lock) return lock.error();
  start.lockFd = *lock;
  releaseDisk(spec.allocation);  // what an interrupted start left is thrown away
  auto work = store_->makeWork(spec.allocation, user->uid, user->gid);
  if (!work) return work.error();
  if (Status limited = limitDisk(spec, files); !limited.ok()) return limited;
  if (auto written = writeInputFiles(*work, files, user->uid, user->gid); !written) return written;
  if (spec.gang && !spec.gang->file.empty()) {
    const InputFile hosts{.path = kHostFileName, .mode = 0600, .content = spec.gang->file};
    if (auto written = writeInputFiles(*work, {hosts}, user->uid, user->gid); !written) return written;
  }

  watchPerformance(spec, setting->cores);
  const auto pid = spawnShim(options_.shim, start);
  if (!pid) {
    running_.erase(spec.allocation);
    return pid.error();
  }
  failpoint("monitor.spawned");
  running_[spec.allocation].memoryLimit = setting->memoryBytes;
  running_[spec.allocation].keepsResults = !spec.results.empty();
  watchDisk(spec);
  // The lock is the shim's alone from here on.
  *lock = nullptr;
  if (auto pidfd = openPidfd(*pid); pidfd.get() >= 0) {
    watch(spec.allocation, kj::mv(pidfd));
  } else {
    adopt(spec.allocation);
  }
  return {};
}

// A task without a socket runs all the same; what watches it says so.
void ContainerExecutor::watchPerformance(const LaunchSpec& spec, const std::vector<uint32_t>& cores) {
  Running& running = running_[spec.allocation];
  running.job = spec.job;
  running.image = spec.container.imageDigest;
  touchImage(running.image);
  running.goal = spec.performance;
  running.earlier = spec.earlier;
  running.caused = spec.caused;
  running.tolerated = spec.tolerated;
  running.cores = cores;
  if (!reportsMetric(spec)) return;
  const std::string directory = store_->directory(spec.allocation);
  auto inbox = MetricInbox::open(directory + "/work", directory);
  if (inbox) {
    running.inbox = std::move(*inbox);
  } else {
    KJ_LOG(WARNING, inbox.error().message);
  }
}

std::vector<RunningTask> ContainerExecutor::running() const {
  std::vector<RunningTask> tasks;
  for (const auto& [allocation, running] : running_) {
    if (!running.startReported || running.end) continue;
    tasks.push_back({allocation, running.job, running.goal, running.caused, running.tolerated, running.cores,
                     cgroups_.counted(allocation), running.inbox.get(), running.earlier});
  }
  return tasks;
}

// Where the disk does not take it, the task is signalled all the same: a successor then reports the signal.
void ContainerExecutor::recordReason(AllocationId allocation, EndCause reason) {
  if (auto recorded = store_->recordReason(allocation, reason); !recorded) {
    KJ_LOG(WARNING, recorded.error().message);
  }
}

void ContainerExecutor::signal(AllocationId allocation, int signal) {
  // Before it has started there is nobody to tell.
  if (awaiting_.erase(allocation) > 0) {
    later(Duration::zero(), [this, allocation] {
      listener_.taskEnded(allocation,
                          neverStartedEnd(clock_.now().wall, "stopped while its image was fetched"));
    });
    return;
  }
  const auto found = running_.find(allocation);
  if (found == running_.end()) return;
  if (found->second.pidfd.get() < 0) {
    found->second.waitingSignals.push_back(signal);
  } else {
    requestSignal(found->second.pidfd, signal);
  }
}

Status ContainerExecutor::resize(AllocationId allocation, const std::vector<RuIndex>& rus) {
  const auto found = running_.find(allocation);
  std::optional<LaunchSpec> spec = found == running_.end() ? std::nullopt : store_->launch(allocation);
  if (!spec) return notFound("this task is not running");
  if (pinByAffinity_) {
    return Error{ErrorCode::kUnavailable,
                 "a running task's cores cannot be changed without the cpuset controller"};
  }
  // A successor is to know of every unit that the task may be on, whenever this process dies.
  const std::vector<RuIndex> held = store_->units(allocation).value_or(spec->rus);
  std::vector<RuIndex> together = held;
  for (const RuIndex ru : rus) {
    if (std::find(held.begin(), held.end(), ru) == held.end()) together.push_back(ru);
  }
  if (auto recorded = store_->recordUnits(allocation, together); !recorded) return recorded;
  failpoint("monitor.units_recorded");
  const LaunchSpec wanted = withUnits(std::move(*spec), rus);
  const auto setting = settingFor(wanted);
  Status limited = setting.ok() ? cgroups_.limit(allocation, limitsOf(wanted, *setting)) : setting.error();
  failpoint("monitor.units_changed");
  if (limited.ok()) {
    found->second.memoryLimit = setting->memoryBytes;
    found->second.cores = setting->cores;
  }
  if (auto recorded = store_->recordUnits(allocation, limited.ok() ? rus : held); !recorded) {
    KJ_LOG(WARNING, recorded.error().message);  // what is there names one too many
  }
  // By its new cores, and the job's own limit of disks is written over.
  if (limited.ok() && !found->second.throttle.isNone()) {
    const Throttle throttled = std::exchange(found->second.throttle, {});
    if (Status again = throttle(allocation, throttled); !again.ok()) KJ_LOG(WARNING, again.error().message);
  }
  return limited;
}

void ContainerExecutor::noteUseRates(const std::map<AllocationId, UseRates>& rates) {
  for (const auto& [allocation, rate] : rates) {
    const auto found = running_.find(allocation);
    if (found == running_.end()) continue;
    Running& running = found->second;
    // A moment in which it did nothing tells nothing.
    if (running.throttle.disk == 1 && rate.disk > 0) running.rates.disk = rate.disk;
    if (running.throttle.network == 1 && rate.network > 0) running.rates.network = rate.network;
  }
}

Status ContainerExecutor::throttle(AllocationId allocation, const Throttle& throttle) {
  const auto found = running_.find(allocation);
  if (found == running_.end()) return notFound("this task is not running");
  Running& running = found->second;
  Status done = throttleAll(allocation, running, throttle);
  if (!done.ok()) endThrottle(allocation, running);
  running.throttle = done.ok() ? throttle : Throttle{};
  const auto isThrottled = [](const auto& entry) { return !entry.second.throttle.isNone(); };
  if (std::none_of(running_.begin(), running_.end(), isThrottled)) cgroups_.endThrottling();
  return done;
}

// Whatever of it there is.
void ContainerExecutor::endThrottle(AllocationId allocation, Running& running) const {
  running.traffic.reset();
  const std::optional<LaunchSpec> spec = store_->launch(allocation);
  cgroups_.throttle(allocation, {0, options_.disks, spec ? spec->limits.diskBytesPerSecond : 0}).ok();
  if (options_.cache != nullptr) {
    options_.cache->limit(allocation, cgroups_.counted(allocation).threadsFile(), 1, 1).ok();
  }
}

Status ContainerExecutor::throttleAll(AllocationId allocation, Running& running,
                                      const Throttle& throttle) const {
  if (Status done = throttleDisksAndCores(allocation, running, throttle); !done.ok()) return done;
  if (Status done = throttleNetwork(allocation, running, throttle.network); !done.ok()) return done;
  if (options_.cache == nullptr) return {};
  return options_.cache->limit(allocation, cgroups_.counted(allocation).threadsFile(), throttle.cacheWays,
                               throttle.memoryBandwidth);
}

Status ContainerExecutor::throttleDisksAndCores(AllocationId allocation, Running& running,
                                                const Throttle& throttle) const {
  const std::optional<LaunchSpec> spec = store_->launch(allocation);
  if (!spec) return notFound("this task is not running");
  ThrottleLimits limits;
  if (throttle.cpu < 1) {
    const double cores = static_cast<double>(std::max<size_t>(1, running.cores.size()));
    limits.cpuMicros = static_cast<uint64_t>(throttle.cpu * cores * kCpuPeriodMicros);
  }
  if (throttle.disk < 1 && running.rates.disk < 1) {
    return Error{ErrorCode::kUnavailable, "it is not known how much the task uses the disks"};
  }
  if (throttle.disk != running.throttle.disk) {
    limits.disks = options_.disks;
    limits.diskBytesPerSecond = throttle.disk < 1
                                    ? static_cast<uint64_t>(throttle.disk * running.rates.disk) + 1
                                    : spec->limits.diskBytesPerSecond;
  }
  return cgroups_.throttle(allocation, limits);
}

Status ContainerExecutor::throttleNetwork(AllocationId allocation, Running& running, double share) const {
  if (share == running.throttle.network) return {};
  if (share == 1) {
    running.traffic.reset();
    return {};
  }
  if (running.rates.network < 1) {
    return Error{ErrorCode::kUnavailable, "it is not known how much the task uses the network"};
  }
  auto limit = TrafficLimit::open(cgroups_.counted(allocation).unified, options_.interfaces,
                                  share * running.rates.network);
  if (!limit) return Error{ErrorCode::kUnavailable, limit.error().message};
  running.traffic.emplace(kj::mv(*limit));
  return {};
}

// The launch of a task that has these units now: where the job itself limits memory, that goes with them.
LaunchSpec ContainerExecutor::withUnits(LaunchSpec spec, const std::vector<RuIndex>& rus) const {
  const auto more = static_cast<int64_t>(rus.size()) - static_cast<int64_t>(spec.rus.size());
  if (spec.limits.memoryBytes > 0) {
    spec.limits.memoryBytes += static_cast<uint64_t>(more) * options_.memoryPerRu;
  }
  spec.rus = rus;
  return spec;
}

void ContainerExecutor::forget(AllocationId allocation) {
  if (running_.contains(allocation)) return;
  releaseDisk(allocation);
  store_->forget(allocation, clock_.now().wall);
}

void ContainerExecutor::pruneHourly() {
  store_->prune(clock_.now().wall);
  later(kPruneEvery, [this] {
    if (images_ != nullptr) images_->removeUnused();
    pruneHourly();
  });
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
  if (images_ != nullptr) images_->removeUnused();  // now that it is known which are in use
  return result;
}

RecoveredTask ContainerExecutor::recoverTask(AllocationId allocation) {
  RecoveredTask task;
  task.spec = store_->launch(allocation).value_or(LaunchSpec{});
  task.spec.allocation = allocation;
  if (const auto rus = store_->units(allocation)) task.spec = withUnits(std::move(task.spec), *rus);
  task.reason = store_->reason(allocation);
  if (store_->lockHeld(allocation)) return adopted(std::move(task));
  const auto started = store_->started(allocation);
  if (auto end = endOf(allocation, memoryLimitOf(task.spec))) {
    task.end = std::move(*end);
  } else if (started && cgroups_.hasProcesses(allocation)) {
    return lingering(std::move(task), *started);
  } else if (started) {
    task.end = lostEnd(*started, clock_.now().wall, kSupervisorKilled);
  } else {
    task.state = RecoveredTask::State::kNeverStarted;
    return task;
  }
  if (task.spec.results.empty() || task.end.cause == EndCause::kNeverStarted) return task;
  const auto kept = keptResults(store_->directory(allocation));
  if (!kept) return keepingResults(std::move(task));
  if (!kept->left.empty()) addProblem(task.end, kept->left);
  return task;
}

RecoveredTask ContainerExecutor::keepingResults(RecoveredTask task) {
  task.state = RecoveredTask::State::kRunning;
  task.started = task.end.started;
  Running& running = running_[task.spec.allocation];
  running.startReported = task.started != kNever;
  running.keepsResults = true;
  later(Duration::zero(), [this, allocation = task.spec.allocation, end = std::exchange(task.end, {})] {
    reportEnd(allocation, end);
  });
  return task;
}

RecoveredTask ContainerExecutor::lingering(RecoveredTask task, WallTime started) {
  task.state = RecoveredTask::State::kRunning;
  task.started = started;
  running_[task.spec.allocation].image = task.spec.container.imageDigest;
  running_[task.spec.allocation].startReported = true;
  running_[task.spec.allocation].keepsResults = !task.spec.results.empty();
  later(Duration::zero(), [this, allocation = task.spec.allocation] { reportLoss(allocation, 0, 0); });
  return task;
}

std::optional<TaskEnd> ContainerExecutor::endOf(AllocationId allocation, uint64_t memoryLimit) const {
  auto end = store_->exit(allocation);
  if (end && end->oomKilled) {
    const auto kill = lastMemoryKill(kernelLog(), cgroups_.pathOf(allocation));
    addProblem(*end, memoryKillText(kill, memoryLimit));
  }
  // One that has ended by itself just before it was killed has nothing to do with that.
  if (end && end->signal == SIGKILL) {
    if (const auto overrun = store_->overrun(allocation)) addProblem(*end, *overrun);
  }
  return end;
}

RecoveredTask ContainerExecutor::adopted(RecoveredTask task) {
  task.state = RecoveredTask::State::kRunning;
  task.started = store_->started(task.spec.allocation).value_or(kNever);
  watchPerformance(task.spec, cgroups_.coresOf(task.spec.allocation));
  Running& running = running_[task.spec.allocation];
  running.memoryLimit = memoryLimitOf(task.spec);
  running.keepsResults = !task.spec.results.empty();
  running.startReported = task.started != kNever;
  endThrottle(task.spec.allocation, running);
  denyDevices(task.spec);
  watchDisk(task.spec);
  adopt(task.spec.allocation);
  if (!running.startReported) lookForStart(task.spec.allocation);
  return task;
}

// A predecessor may have known of other devices. One whose cgroup is not made yet gets its filter then.
void ContainerExecutor::denyDevices(const LaunchSpec& spec) const {
  const std::string filter = deviceFilter(deniedDevices(options_.extraDevices, spec.extras));
  if (filter.empty()) return;
  const long attached = attachFilter(cgroups_.counted(spec.allocation).unified, filter);
  if (attached >= 0 || attached == -ENOENT) return;
  KJ_LOG(ERROR, "a task taken over is not kept from devices as they are now", spec.allocation,
         std::generic_category().message(static_cast<int>(-attached)));
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

// The pid in the lock file is the shim's own if the lock was held when its pidfd was opened and still
// is afterwards.
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
  if (const auto end = endOf(allocation, found->second.memoryLimit)) {
    if (end->started != kNever) reportStart(allocation, end->started);
    reportEnd(allocation, *end);
  } else {
    reportLoss(allocation, waitStatus, 0);
  }
}

// Its processes die with the supervisor, but not at the same instant, and one that waits for a disk not
// before that answers: the end is reported when they are gone. Its units are taken until then, and nobody
// starts it again.
void ContainerExecutor::reportLoss(AllocationId allocation, int waitStatus, int tries) {
  if (!cgroups_.remove(allocation) && (tries < kLossTries || cgroups_.hasProcesses(allocation))) {
    if (tries == kLossTries) {
      KJ_LOG(WARNING, "processes of a task hang in the kernel: it keeps its units until they end",
             allocation);
    }
    later(tries < kLossTries ? kLookAgain : kLookAtHanging, [this, allocation, waitStatus, tries] {
      reportLoss(allocation, waitStatus, std::min(tries, kLossTries) + 1);
    });
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
  diskWatch_.forget(allocation);
  const auto found = running_.find(allocation);
  const bool keeps = found != running_.end() && found->second.keepsResults;
  const auto spec = keeps && end.cause != EndCause::kNeverStarted ? store_->launch(allocation) : std::nullopt;
  if (!spec) return reportEndNow(allocation, end);
  found->second.end = end;
  results_.collect(spec->submitter, {allocation, store_->directory(allocation), spec->results});
}

kj::Promise<void> ContainerExecutor::watchResults() {
  return resultsObserver_.whenBecomesReadable().then([this] {
    for (const ResultCollector::Kept& kept : results_.kept()) {
      TaskEnd end = running_.at(kept.allocation).end.value_or(TaskEnd{});
      if (!kept.problem.empty()) addProblem(end, kept.problem);
      failpoint("monitor.results_kept");
      reportEndNow(kept.allocation, end);
    }
    return watchResults();
  });
}

void ContainerExecutor::reportEndNow(AllocationId allocation, const TaskEnd& end) {
  if (const auto running = running_.extract(allocation)) {
    touchImage(running.mapped().image);
    cgroups_.remove(allocation);  // also what was made to throttle it
  }
  listener_.taskEnded(allocation, end);
}

void ContainerExecutor::later(Duration delay, kj::Function<void()> action) {
  auto wait = delay == Duration::zero() ? kj::Promise<void>(kj::evalLater([] {}))
                                        : port_.getTimer().afterDelay(delay.count() * kj::MICROSECONDS);
  tasks_.add(wait.then([action = kj::mv(action)]() mutable { action(); }));
}

}  // namespace tarcil
