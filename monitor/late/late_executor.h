// The seam between the monitor's shell of late binding and what runs late-bound tasks: containers and
// executor processes, or timers that stand for them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/launch.h"
#include "core/state/ru_set.h"
#include "latebinding/messages.h"

namespace tarcil {

// Exit codes of tasks that did not exit by themselves; kCodeSignal + n where signal n ended them.
inline constexpr int32_t kCodeTimedOut = 124;
inline constexpr int32_t kCodeNotStarted = 125;
inline constexpr int32_t kCodeSignal = 128;

struct LateTask {
  uint32_t server = 0;  // its position among the monitor's
  late::SlotLeaseId lease = 0;
  RuIndex ru = 0;
  LaunchSpec launch;                       // without allocation, server and units
  std::vector<std::string> executor;       // command of the process that runs it; empty: a process of its own
  std::optional<std::string> description;  // for that process; none: the launch's command
};

class LateExecutorListener {
 public:
  // The task and all its processes are gone, but for the executor's. Once for each start() that did not say
  // so itself; never from inside a method of the executor.
  virtual void lateTaskEnded(uint32_t server, late::SlotLeaseId lease, int32_t code) = 0;

 protected:
  ~LateExecutorListener() = default;
};

class LateExecutor {
 public:
  virtual ~LateExecutor() = default;

  // The exit code where the task is over already.
  virtual std::optional<int32_t> start(LateTask task) = 0;

  // The task shall end: SIGTERM, and SIGKILL when its grace is over; an executor's process is killed.
  // lateTaskEnded() follows, unless it was called already; a repeat changes nothing.
  virtual void stop(uint32_t server, late::SlotLeaseId lease) = 0;

  // Only these units of the server are the pool's from now on. No task runs on others; what else is kept
  // ready there ends.
  virtual void keepTo(uint32_t server, const RuSet& units) = 0;

  // The container that has the output of a task, which has been started: its own, or that of the process that
  // ran it beside others of its submitter.
  virtual AllocationId outputOf(late::SlotLeaseId lease) const { return lease; }
};

}  // namespace tarcil
