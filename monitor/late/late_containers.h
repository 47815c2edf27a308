// Late-bound tasks for real: commands in containers of their own, and tasks of executor processes.
#pragma once

#include <memory>
#include <set>
#include <unordered_map>
#include <utility>

#include "monitor/container/container_executor.h"
#include "monitor/late/executor_processes.h"
#include "monitor/late/late_executor.h"

namespace tarcil {

// For one server. Uses a container executor of its own, whose tasks nobody takes over: what a predecessor
// left is killed. Lives on the event loop's thread.
class LateContainers final : public LateExecutor, private ExecutorListener, private ExecutorHost {
 public:
  // `options` are those of the server's other tasks; it has folders and cgroups of its own beside theirs.
  // Resolves when nothing of a predecessor runs any more. Fails as Invalid where it cannot work. `port` and
  // `clock` outlive it.
  static kj::Promise<kj::Own<LateContainers>> open(Net net, kj::UnixEventPort& port, const Clock& clock,
                                                   ContainerOptions options);
  LateContainers(kj::Timer& timer, const Clock& clock, std::string server);
  ~LateContainers() noexcept override {}

  // Before the first start(); it outlives this object.
  void tell(LateExecutorListener& listener) { listener_ = &listener; }
  // Kills every task. Resolves when all have ended.
  kj::Promise<void> killTasks();

  std::optional<int32_t> start(LateTask task) override;
  void stop(uint32_t server, late::SlotLeaseId lease) override;
  void keepTo(uint32_t server, const RuSet& units) override;
  AllocationId outputOf(late::SlotLeaseId lease) const override { return executors_->processOf(lease); }

 private:
  struct Running {
    Duration grace{};
    MonotonicTime deadline = MonotonicTime::max();  // by which it ends, or is made to
    bool isExecutors = false;                       // it runs in an executor process
    bool isTimedOut = false;
    bool isEnding = false;  // it was made to
  };

  void taskStarted(AllocationId, WallTime) override {}
  void taskEnded(AllocationId allocation, const TaskEnd& end) override;
  void startProcess(const LaunchSpec& spec) override;
  void killProcess(AllocationId allocation) override;
  std::optional<uid_t> uidOf(const std::string& user) override;
  void executorTaskEnded(late::SlotLeaseId lease, int32_t code) override;
  void over(late::SlotLeaseId lease, int32_t code);
  void endOverdue();
  void end(late::SlotLeaseId lease, Running& running);
  void setDeadline(late::SlotLeaseId lease, Running& running, MonotonicTime deadline);

  const Clock& clock_;
  const std::string server_;
  UserDirectory users_;
  LateExecutorListener* listener_ = nullptr;
  std::unordered_map<late::SlotLeaseId, Running> running_;
  std::set<std::pair<MonotonicTime, late::SlotLeaseId>> deadlines_;
  std::set<AllocationId> live_;  // containers, those of a predecessor among them
  kj::Maybe<kj::Own<kj::PromiseFulfiller<void>>> allEnded_;
  Alarm alarm_;
  kj::Own<ContainerExecutor> containers_;
  kj::Own<ExecutorProcesses> executors_;
};

}  // namespace tarcil
