// The long-lived processes that run late-bound tasks of applications, so that a task costs no process.
#pragma once

#include <kj/async-io.h>

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "env/alarm.h"
#include "env/clock.h"
#include "monitor/late/executor_frames.h"
#include "monitor/late/late_executor.h"
#include "rpc/address.h"
#include "rpc/connection.h"

namespace tarcil {

// Starts and ends the processes, and hears of their tasks.
class ExecutorHost {
 public:
  // In a container, as a task with this allocation; processEnded() follows.
  virtual void startProcess(const LaunchSpec& spec) = 0;
  virtual void killProcess(AllocationId allocation) = 0;
  virtual void executorTaskEnded(late::SlotLeaseId lease, int32_t code) = 0;

 protected:
  ~ExecutorHost() = default;
};

// Each process runs one task at a time, on one unit. It is started when the first task for it comes, told by
// its environment (TARCIL_EXECUTOR_SOCKET, TARCIL_EXECUTOR_KEY) where to connect, and kept for the next task
// of the same executor, submitter, system user and environment. Lives on the event loop's thread.
class ExecutorProcesses final : private kj::TaskSet::ErrorHandler {
 public:
  static constexpr size_t kMostEndedTasks = 10'000;

  struct Options {
    std::string socket;  // path; every user may connect, who has a key is served
    // A process that has no task for so long is ended; one that does not connect for so long too.
    Duration idle = std::chrono::seconds(60);
    Duration patience = std::chrono::seconds(30);
    // Processes on one unit; the one that has been idle for longest goes first.
    size_t mostPerUnit = 4;
  };

  // `clock` and `host` outlive it. Fails as listenAt() does.
  static kj::Promise<kj::Own<ExecutorProcesses>> open(Net net, const Clock& clock, ExecutorHost& host,
                                                      Options options);
  ExecutorProcesses(kj::Timer& timer, const Clock& clock, ExecutorHost& host, Options options,
                    Listener listener);
  ~ExecutorProcesses() noexcept(false);

  // executorTaskEnded() follows. Requires: no other task runs on the unit.
  void start(LateTask task);
  // The task is of no use any more: its process is killed.
  void kill(late::SlotLeaseId lease);
  // Processes on other units are killed.
  void keepTo(const RuSet& units);
  // Whether this is a process of these.
  bool has(AllocationId allocation) const { return processes_.contains(allocation); }
  // That runs or ran the task, one of the last kMostEndedTasks; a task that is not known stands for itself.
  AllocationId processOf(late::SlotLeaseId lease) const;
  // The process is gone, with the task that it had.
  void processEnded(AllocationId allocation, int32_t code);

 private:
  struct Process {
    std::string kind;  // tasks of the same may run in it
    RuIndex ru = 0;
    std::string key;
    std::optional<late::SlotLeaseId> lease;  // of its task
    std::string toSend;                      // its task, while it has not connected
    bool isKilled = false;
    MonotonicTime since{};  // of its start, or idle
    kj::Maybe<kj::Own<kj::AsyncIoStream>> stream;
    FrameReader frames;
    kj::Promise<void> writing = nullptr;
  };

  std::map<AllocationId, Process>::iterator idleFor(const std::string& kind, RuIndex ru);
  void makeRoom(RuIndex ru);
  void launch(LateTask task, std::string kind);
  void send(AllocationId allocation, Process& process, std::string frame);
  kj::Promise<void> accept();
  kj::Promise<void> greet(kj::Own<kj::AsyncIoStream> stream);
  kj::Promise<void> listen(AllocationId allocation);
  bool takeFrames(AllocationId allocation, Process& process);
  void kill(AllocationId allocation, Process& process);
  void lookForIdle();
  void noteEnded(late::SlotLeaseId lease, AllocationId process);
  void taskFailed(kj::Exception&& exception) override;

  kj::Timer& timer_;
  const Clock& clock_;
  ExecutorHost& host_;
  const Options options_;
  kj::Own<kj::ConnectionReceiver> receiver_;
  std::map<AllocationId, Process> processes_;
  std::unordered_map<late::SlotLeaseId, AllocationId> endedIn_;  // by task
  std::deque<late::SlotLeaseId> ended_;                          // oldest first
  Alarm alarm_;
  kj::TaskSet tasks_;
};

}  // namespace tarcil
