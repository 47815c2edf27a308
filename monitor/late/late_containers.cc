#include "monitor/late/late_containers.h"

#include <kj/debug.h>
#include <signal.h>

#include <filesystem>
#include <functional>
#include <sstream>

#include "rpc/errors.h"

namespace tarcil {
namespace {

int32_t codeOf(const TaskEnd& end) {
  if (end.cause == EndCause::kLost) return kCodeSignal + SIGKILL;
  if (end.cause == EndCause::kNeverStarted) return end.exitCode == 0 ? kCodeNotStarted : end.exitCode;
  return end.signal != 0 ? kCodeSignal + end.signal : end.exitCode;
}

// Short, whatever the data folder is called: executors connect to what is in it with an ordinary address.
std::string socketFolderFor(const ContainerOptions& options) {
  std::stringstream path;
  path << std::filesystem::path(options.workPoint).parent_path().string() << "/executors-" << std::hex
       << std::hash<std::string>()(options.dataDirectory);
  return path.str();
}

}  // namespace

LateContainers::LateContainers(kj::Timer& timer, const Clock& clock, std::string server)
    : clock_(clock), server_(std::move(server)), alarm_(timer, clock, [this]() { endOverdue(); }) {}

kj::Promise<kj::Own<LateContainers>> LateContainers::open(Net net, kj::UnixEventPort& port,
                                                          const Clock& clock, ContainerOptions options) {
  auto made = kj::heap<LateContainers>(net.timer, clock, options.server);
  options.dataDirectory += "/late-binding";
  options.group = "late";
  const std::string sockets = socketFolderFor(options);
  std::error_code problem;
  std::filesystem::create_directories(sockets, problem);
  // Whatever files are open to that this process makes: executors of all users pass through it.
  constexpr auto kPassable = static_cast<std::filesystem::perms>(0755);
  if (!problem) std::filesystem::permissions(sockets, kPassable, problem);
  if (problem) return toException(invalid(sockets + ": cannot be made: " + problem.message()));
  options.shares.push_back(sockets);
  auto containers = ContainerExecutor::open(options, port, clock, *made);
  if (!containers.ok()) return toException(containers.error());
  made->containers_ = kj::mv(*containers);
  for (const RecoveredTask& task : made->containers_->recover()) {
    const AllocationId allocation = task.spec.allocation;
    if (task.state == RecoveredTask::State::kRunning) {
      made->live_.insert(allocation);
    } else if (task.state != RecoveredTask::State::kForgotten) {
      made->containers_->forget(allocation);
    }
  }
  ExecutorHost& host = *made;
  made->executors_ =
      kj::heap<ExecutorProcesses>(net, clock, host, ExecutorProcesses::Options{.folder = sockets});
  auto ended = made->killTasks();
  return ended.then([made = kj::mv(made)]() mutable { return kj::mv(made); });
}

kj::Promise<void> LateContainers::killTasks() {
  if (live_.empty()) return kj::READY_NOW;
  for (const AllocationId allocation : live_) containers_->signal(allocation, SIGKILL);
  auto paf = kj::newPromiseAndFulfiller<void>();
  allEnded_ = kj::mv(paf.fulfiller);
  return kj::mv(paf.promise);
}

std::optional<int32_t> LateContainers::start(LateTask task) {
  Running& running = running_[task.lease];
  running.grace = task.launch.grace;
  running.isExecutors = !task.executor.empty();
  if (task.launch.timeout > Duration(0))
    setDeadline(task.lease, running, clock_.now().steady + task.launch.timeout);
  task.launch.server = server_;
  if (running.isExecutors) {
    executors_->start(std::move(task));
    return std::nullopt;
  }
  task.launch.allocation = task.lease;
  task.launch.rus = {task.ru};
  startProcess(task.launch);
  return std::nullopt;
}

void LateContainers::stop(uint32_t, late::SlotLeaseId lease) {
  const auto running = running_.find(lease);
  if (running != running_.end() && !running->second.isEnding) end(lease, running->second);
}

void LateContainers::keepTo(uint32_t, const RuSet& units) {
  executors_->keepTo(units);
}

void LateContainers::startProcess(const LaunchSpec& spec) {
  live_.insert(spec.allocation);
  containers_->record(spec);
  containers_->start(spec, {}, {});
}

void LateContainers::killProcess(AllocationId allocation) {
  containers_->signal(allocation, SIGKILL);
}

std::optional<uid_t> LateContainers::uidOf(const std::string& user) {
  const auto found = users_.find(user, clock_.now().steady);
  return found ? std::optional((*found)->uid) : std::nullopt;
}

void LateContainers::taskEnded(AllocationId allocation, const TaskEnd& end) {
  containers_->forget(allocation);
  live_.erase(allocation);
  if (executors_.get() != nullptr && executors_->has(allocation)) {
    executors_->processEnded(allocation, codeOf(end));
  } else {
    over(allocation, codeOf(end));
  }
  if (!live_.empty()) return;
  KJ_IF_MAYBE (fulfiller, allEnded_) {
    (*fulfiller)->fulfill();
    allEnded_ = nullptr;
  }
}

void LateContainers::executorTaskEnded(late::SlotLeaseId lease, int32_t code) {
  over(lease, code);
}

void LateContainers::over(late::SlotLeaseId lease, int32_t code) {
  const auto ended = running_.extract(lease);
  if (!ended) return;  // a predecessor's
  deadlines_.erase({ended.mapped().deadline, lease});
  listener_->lateTaskEnded(0, lease, ended.mapped().isTimedOut ? kCodeTimedOut : code);
}

void LateContainers::endOverdue() {
  const MonotonicTime now = clock_.now().steady;
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    const late::SlotLeaseId lease = deadlines_.begin()->second;
    Running& running = running_.at(lease);
    if (!running.isEnding) running.isTimedOut = true;
    end(lease, running);
  }
  if (!deadlines_.empty()) alarm_.set(deadlines_.begin()->first);
}

// SIGTERM first, SIGKILL when the grace is over. An executor has no way to end one task: it is killed.
void LateContainers::end(late::SlotLeaseId lease, Running& running) {
  const bool isAgain = std::exchange(running.isEnding, true);
  if (running.isExecutors) {
    setDeadline(lease, running, MonotonicTime::max());
    return executors_->kill(lease);
  }
  containers_->signal(lease, isAgain ? SIGKILL : SIGTERM);
  setDeadline(lease, running, isAgain ? MonotonicTime::max() : clock_.now().steady + running.grace);
}

void LateContainers::setDeadline(late::SlotLeaseId lease, Running& running, MonotonicTime deadline) {
  deadlines_.erase({running.deadline, lease});
  running.deadline = deadline;
  if (deadline == MonotonicTime::max()) return;
  deadlines_.emplace(deadline, lease);
  alarm_.set(deadlines_.begin()->first);
}

}  // namespace tarcil
