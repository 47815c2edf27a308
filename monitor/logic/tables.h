// Everything the monitor knows, and what a handler of an event gets to work with.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/time.h"
#include "core/model/launch.h"
#include "core/model/performance.h"
#include "monitor/logic/events.h"
#include "monitor/logic/holdings.h"
#include "monitor/logic/tombstones.h"

namespace tarcil::monitor {

// In the order of MonitorLogic::Load.
enum class Phase : uint8_t {
  kFetching,  // its input files or secrets are not here yet
  kReady,     // waits for its units and extras, or for the first word from the master
  kStarting,  // handed to the executor
  kRunning,   // its command was executed
  kEnded,     // its end is to be reported
};

// Why the monitor ends a task that would have run on.
enum class Intent : uint8_t { kNone, kStop, kTimeOut, kDrop, kShutDown };

struct Task {
  LaunchSpec spec;
  Phase phase = Phase::kReady;
  Intent intent = Intent::kNone;
  bool killed = false;     // SIGKILL was sent; before that, an intent means that SIGTERM was
  bool allowed = true;     // to start; an exclusive one when the master says so
  bool recorded = true;    // false: a stop that came before its launch; only spec.allocation is filled
  bool reportDue = false;  // is in Tables::due
  Throttle throttle{};     // as the executor was told last
  WallTime started = kNever;
  TaskEnd end;                                    // in kEnded
  bool lacksFiles = false, lacksSecrets = false;  // in kFetching; one at least
  std::vector<InputFile> files;                   // in kReady, as secrets
  std::vector<TaskSecret> secrets;
  std::optional<MonotonicTime> alarm;  // its entry in Tables::alarms

  bool holdsUnits() const { return phase == Phase::kStarting || phase == Phase::kRunning; }
};

// The lease, which tasks of exclusive jobs need: what the latest renewal gives, counted from when it was
// asked for.
struct Lease {
  Duration length = Duration::max();
  MonotonicTime until{};
  MonotonicTime renewAt{};               // while attached and no renewal is under way
  std::optional<MonotonicTime> askedAt;  // of the renewal under way
  std::set<AllocationId> asking, toAsk;  // tasks: named in it; to be named in the next
};

struct Tables {
  explicit Tables(const std::vector<std::string>& names) : servers(names.begin(), names.end()) {}

  // Null where the allocation is not known, or forgotten.
  Task* find(AllocationId allocation) {
    const auto found = tasks.find(allocation);
    return found == tasks.end() ? nullptr : &found->second;
  }

  // A task has one alarm at most: to fetch its files or secrets again, to end it at its timeout, to kill it
  // after its grace period.
  void setAlarm(Task& task, MonotonicTime when) {
    clearAlarm(task);
    task.alarm = when;
    alarms.insert({when, task.spec.allocation});
  }
  void clearAlarm(Task& task) {
    if (task.alarm) alarms.erase({*task.alarm, task.spec.allocation});
    task.alarm.reset();
  }

  const std::set<std::string> servers;  // that the monitor stands for
  bool attached = false;                // to the master
  bool heardMaster = false;             // attached at least once since this process started
  bool shutsDown = false;               // nothing is started any more

  std::map<AllocationId, Task> tasks;  // not forgotten
  std::set<AllocationId> ready;        // of them, those in kReady
  Holdings held;                       // of tasks in kStarting and kRunning
  Tombstones tombstones{100'000};
  Lease lease;

  // What a report says is decided when it is sent: started, or ended if it has come to that.
  std::deque<AllocationId> due;
  std::vector<std::pair<AllocationId, bool>> underWay;  // with `ended` of the report

  std::set<std::pair<MonotonicTime, AllocationId>> alarms;
  std::optional<MonotonicTime> wakeAt;  // the latest WakeAt that has not fired
};

// Lives for one event.
struct EventContext {
  Tables& tables;
  Now now;
  std::vector<Action>& actions;

  template <typename OneAction>
  void act(OneAction action) {
    actions.emplace_back(std::move(action));
  }
};

}  // namespace tarcil::monitor
