// The interface between the monitor's logic and what runs tasks: containers, or timers in their place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/launch.h"
#include "core/model/performance.h"
#include "core/model/task_secret.h"

namespace tarcil {

// Told of the starts and ends of tasks. Called on the monitor's thread, never from inside an
// Executor's method.
class ExecutorListener {
 public:
  // A task that is starting runs in the image of this digest (Container::imageDigest). Before taskStarted(),
  // of each that runs in one; recover() tells of those that were started before.
  virtual void imageFound(AllocationId, const std::string&) {}
  // The command has been executed.
  virtual void taskStarted(AllocationId allocation, WallTime when) = 0;
  // The task and all its processes are gone. Called once for each start(), also where the start failed (cause
  // kNeverStarted); an end during a restart of the monitor is told by recover().
  virtual void taskEnded(AllocationId allocation, const TaskEnd& end) = 0;

 protected:
  ~ExecutorListener() = default;
};

// A task found at the start of a monitor, left by its predecessor.
struct RecoveredTask {
  enum class State : uint8_t {
    kRunning,       // adopted: taskEnded() will follow, and taskStarted() before it where `started` is kNever
    kEnded,         // `end` says how
    kNeverStarted,  // recorded, but its command was never executed: it may be started now
    kForgotten,     // only `spec.allocation` is filled: forgotten lately, and never to be started again
  };
  LaunchSpec spec;
  State state = State::kEnded;
  WallTime started = kNever;         // for kRunning
  TaskEnd end{};                     // for kEnded
  std::optional<EndCause> reason{};  // recordReason() was called with it; not for kForgotten
};

class Executor {
 public:
  virtual ~Executor() = default;

  // Stores the launch so that recover() finds it whatever kills this process. It need not survive a crash of
  // the machine, since no task does.
  virtual void record(const LaunchSpec& spec) = 0;

  // Tasks of exclusive jobs may live until then, whatever becomes of this process; those that live longer are
  // killed and end as kLost. Called before the first of them is started; until then the predecessor's lease
  // holds for tasks that recover() returned.
  virtual void extendLease(MonotonicTime until) = 0;

  // Starts a recorded task with these input files, and with the secrets that it names, which are nowhere
  // written to a disk. The listener is told of the outcome.
  virtual void start(const LaunchSpec& spec, const std::vector<InputFile>& files,
                     const std::vector<TaskSecret>& secrets) = 0;

  // Stores why the task is about to be signalled, kCancelled or kTimedOut, for recover(): a successor sees
  // only that the task was ended by a signal.
  virtual void recordReason(AllocationId allocation, EndCause reason) = 0;

  // SIGTERM goes to the command, SIGKILL to every process of the task. Unknown or ended tasks are ignored.
  virtual void signal(AllocationId allocation, int signal) = 0;

  // Gives a running task the cores and the memory of these units, in place of those it has; limits of the
  // job's own grow and shrink with their number. NotFound for a task that is not running. If it fails,
  // nothing has changed. recover() returns the units that the task has.
  virtual Status resize(AllocationId allocation, const std::vector<RuIndex>& rus) = 0;

  // A running task may use these shares of what it could, and of the disk and network traffic that it has
  // now. NotFound for a task that is not running; kUnavailable where the machine cannot do it: then it is not
  // throttled at all. recover() ends it for all.
  virtual Status throttle(AllocationId allocation, const Throttle& throttle) = 0;

  // The end of the task is durable at the master: drops its record and private files; its output stays for a
  // while. So does a tombstone, also for an allocation that was never recorded: recover() returns both as
  // kForgotten, so that a launch that was delayed on the way is refused after a restart too.
  virtual void forget(AllocationId allocation) = 0;

  // What the predecessor left behind. Called once, before anything else.
  virtual std::vector<RecoveredTask> recover() = 0;
};

}  // namespace tarcil
