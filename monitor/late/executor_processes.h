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
  // Whom the processes of this user of the server run as; nullopt: there is no such user.
  virtual std::optional<uid_t> uidOf(const std::string& user) = 0;
  virtual void executorTaskEnded(late::SlotLeaseId lease, int32_t code) = 0;

 protected:
  ~ExecutorHost() = default;
};

// Each process runs one task at a time, on one unit. It is started when the first task for it comes, told by
// its environment (TARCIL_EXECUTOR_SOCKET, TARCIL_EXECUTOR_KEY) where to connect, and kept for the next task
// of the same executor, submitter, system user and environment. Lives on the event loop's thread.
//
// Processes of each submitter and system user have a socket of their own, which belongs to that user alone;
// who connects has to be a process of that user (peer credentials) and to have the key of one of these
// processes.
class ExecutorProcesses final : private kj::TaskSet::ErrorHandler {
 public:
  static constexpr size_t kMostEndedTasks = 10'000;

  struct Options {
    std::string folder;  // for sockets; every user may pass through it
    // A process that has no task for so long is ended; one that does not connect for so long too.
    Duration idle = std::chrono::seconds(60);
    Duration patience = std::chrono::seconds(30);
    // Processes on one unit; the one that has been idle for longest goes first.
    size_t mostPerUnit = 4;
  };

  // `clock` and `host` outlive it.
  ExecutorProcesses(Net net, const Clock& clock, ExecutorHost& host, Options options);
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
  // Where the processes of one submitter and system user connect; there while one of them is.
  struct Door {
    std::string socket;  // path
    uid_t uid = 0;
    size_t processes = 0;
    kj::ForkedPromise<void> open = nullptr;
    kj::Own<kj::ConnectionReceiver> receiver;
    kj::Promise<void> accepting = nullptr;
  };
  struct Process {
    std::string owner;  // key of its door
    std::string kind;   // tasks of the same may run in it
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
  // Resolves when the door is open.
  kj::Promise<void> openDoor(const std::string& owner, const std::string& user);
  // For one of its processes.
  void closeDoor(const std::string& owner);
  void send(AllocationId allocation, Process& process, std::string frame);
  kj::Promise<void> accept(const std::string& owner, Door& door);
  kj::Promise<void> greet(const std::string& owner, kj::Own<kj::AsyncIoStream> stream);
  kj::Promise<void> listen(AllocationId allocation);
  bool takeFrames(AllocationId allocation, Process& process);
  void kill(AllocationId allocation, Process& process);
  void lookForIdle();
  void noteEnded(late::SlotLeaseId lease, AllocationId process);
  void taskFailed(kj::Exception&& exception) override;

  const Net net_;
  const Clock& clock_;
  ExecutorHost& host_;
  const Options options_;
  uint64_t lastDoor_ = 0;
  std::map<std::string, Door> doors_;  // by submitter and system user
  std::map<AllocationId, Process> processes_;
  std::unordered_map<late::SlotLeaseId, AllocationId> endedIn_;  // by task
  std::deque<late::SlotLeaseId> ended_;                          // oldest first
  Alarm alarm_;
  kj::TaskSet tasks_;
};

}  // namespace tarcil
