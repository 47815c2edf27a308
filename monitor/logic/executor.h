// The seam between the monitor's logic and what runs tasks: containers, or timers that stand for them.
#pragma once

#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/model/launch.h"

namespace tarcil {

// Tells the monitor what became of tasks. Called on the monitor's thread, never from inside an Executor's
// method.
class ExecutorListener {
 public:
  // The command has been executed.
  virtual void taskStarted(AllocationId allocation, WallTime when) = 0;
  // The task and all its processes are gone. Comes once for each start(), also where the start failed
  // (cause kNeverStarted), and survives a restart of the monitor through recover().
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

  // Writes the launch down so that recover() finds it whatever kills this process. It need not survive a
  // crash of the machine: no task does.
  virtual void record(const LaunchSpec& spec) = 0;

  // Tasks of exclusive jobs may live until then, whatever becomes of this process; those that still do are
  // killed and end as kLost. Comes before the first of them is started; what recover() told lives by the
  // predecessor's word until then.
  virtual void extendLease(MonotonicTime until) = 0;

  // Starts a recorded task with these input files. Answers through the listener.
  virtual void start(const LaunchSpec& spec, const std::vector<InputFile>& files) = 0;

  // Writes down why the task is about to be signalled, kCancelled or kTimedOut, so that recover() tells it: a
  // successor sees no more than a task that was ended by a signal.
  virtual void recordReason(AllocationId allocation, EndCause reason) = 0;

  // SIGTERM goes to the command, SIGKILL to every process of the task. Unknown or ended tasks are ignored.
  virtual void signal(AllocationId allocation, int signal) = 0;

  // Gives a running task the cores and the memory of these units, in place of those it has; what the job
  // itself limits grows and shrinks with their number. NotFound for a task that is not running. Where
  // it fails the task has what it had. recover() tells of the units that the task has.
  virtual Status resize(AllocationId allocation, const std::vector<RuIndex>& rus) = 0;

  // The end of the task is durable at the master: drop its record and private files; its output stays for a
  // while. So does the mark that it is over, also of an allocation that was never recorded: recover() tells
  // of both as kForgotten, so that a launch that was long under way is refused after a restart too.
  virtual void forget(AllocationId allocation) = 0;

  // What the predecessor left. Called once, before anything else.
  virtual std::vector<RecoveredTask> recover() = 0;
};

}  // namespace tarcil
