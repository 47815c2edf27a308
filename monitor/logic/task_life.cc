#include "monitor/logic/task_life.h"

#include <csignal>
#include <iterator>

#include "monitor/logic/reports.h"

namespace tarcil::monitor {
namespace {

// "10m", "1h30m", "2.5s".
std::string inWords(Duration duration) {
  const int64_t seconds = std::chrono::floor<std::chrono::seconds>(duration).count();
  std::string text;
  if (seconds >= 3600) text += std::to_string(seconds / 3600) + "h";
  if (seconds / 60 % 60 != 0) text += std::to_string(seconds / 60 % 60) + "m";
  std::string fraction = std::to_string(duration.count() % 1'000'000 + 1'000'000).substr(1);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  if (seconds % 60 != 0 || !fraction.empty() || text.empty()) text += std::to_string(seconds % 60);
  if (!fraction.empty()) text += "." + fraction;
  if (text.back() >= '0' && text.back() <= '9') text += "s";
  return text;
}

// Of an exclusive job.
bool mayStart(EventContext& context, const Task& task) {
  Lease& lease = context.tables.lease;
  if (task.allowed && context.now.steady < lease.until) return true;
  lease.toAsk.insert(task.spec.allocation);
  return false;
}

void start(EventContext& context, Task& task) {
  task.phase = Phase::kStarting;
  context.tables.held.take(task.spec);
  context.act(StartTask{task.spec, std::exchange(task.files, {}), std::exchange(task.secrets, {})});
}

}  // namespace

void startReady(EventContext& context) {
  Tables& tables = context.tables;
  if (!tables.heardMaster || tables.shutsDown) return;
  for (auto next = tables.ready.begin(); next != tables.ready.end();) {
    Task& task = tables.tasks.at(*next);
    // An earlier task holds some of it only where the master and this monitor disagree for a moment; both
    // running at once would break the promise that nothing has two owners.
    const bool starts = tables.held.areFree(task.spec) && (!task.spec.exclusive || mayStart(context, task));
    next = starts ? tables.ready.erase(next) : std::next(next);
    if (starts) start(context, task);
  }
}

void takeImage(EventContext& context, const ImageFound& event) {
  if (Task* task = context.tables.find(event.allocation)) task->spec.container.imageDigest = event.digest;
}

void takeStarted(EventContext& context, const TaskStarted& event) {
  Task* task = context.tables.find(event.allocation);
  if (task == nullptr || task->phase != Phase::kStarting) return;
  task->phase = Phase::kRunning;
  task->started = event.when;
  if (task->intent != Intent::kNone) {
    // The signal may have come before there was a command to get it.
    context.act(SignalTask{event.allocation, task->killed ? SIGKILL : SIGTERM});
  } else if (task->spec.timeout > Duration::zero()) {
    context.tables.setAlarm(*task, context.now.steady + task->spec.timeout);
  }
  if (task->intent != Intent::kDrop) queueReport(context.tables, *task);
}

void takeEnded(EventContext& context, const TaskEnded& event) {
  Task* task = context.tables.find(event.allocation);
  if (task == nullptr || !task->holdsUnits()) return;
  finish(context, *task, withIntent(*task, event.end));
}

void finish(EventContext& context, Task& task, TaskEnd end) {
  Tables& tables = context.tables;
  tables.clearAlarm(task);
  tables.ready.erase(task.spec.allocation);
  const bool releases = task.holdsUnits();
  if (releases) tables.held.release(task.spec);
  task.phase = Phase::kEnded;
  task.end = std::move(end);
  task.files.clear();
  task.secrets.clear();
  if (task.intent == Intent::kDrop) {
    forget(context, task.spec.allocation);
  } else {
    queueReport(tables, task);
  }
  if (releases) startReady(context);
}

void finishUnstarted(EventContext& context, Task& task, EndCause cause, std::string problem, int exitCode) {
  TaskEnd end;
  end.cause = cause;
  end.exitCode = exitCode;
  end.problem = std::move(problem);
  end.ended = context.now.wall;
  finish(context, task, std::move(end));
}

void forget(EventContext& context, AllocationId allocation) {
  Tables& tables = context.tables;
  const auto task = tables.tasks.find(allocation);
  const bool recorded = task->second.recorded;
  tables.clearAlarm(task->second);
  tables.ready.erase(allocation);
  tables.tasks.erase(task);
  tables.tombstones.add(allocation);
  if (recorded) context.act(ForgetTask{allocation});
}

TaskEnd withIntent(const Task& task, TaskEnd end) {
  if (end.started == kNever) end.started = task.started;
  // The machine may have asked its processes to end before it came to this monitor.
  const bool isShutDown =
      task.intent == Intent::kShutDown || (task.intent == Intent::kNone && end.cause == EndCause::kCancelled);
  if (task.intent == Intent::kStop || isShutDown) end.cause = EndCause::kCancelled;
  if (isShutDown) end.problem = "its server was shut down";
  // Its files are kept before its end is told, and its time may run out meanwhile.
  const bool wasInTime =
      end.signal == 0 && end.started != kNever && end.ended - end.started < task.spec.timeout;
  if (task.intent == Intent::kTimeOut && end.cause == EndCause::kExited && !wasInTime) {
    end.cause = EndCause::kTimedOut;
    end.problem = "ran longer than its timeout of " + inWords(task.spec.timeout);
  }
  return end;
}

}  // namespace tarcil::monitor
