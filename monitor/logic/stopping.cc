#include "monitor/logic/stopping.h"

#include <algorithm>
#include <csignal>

#include "monitor/logic/task_life.h"
#include "monitor/logic/throttling.h"

namespace tarcil::monitor {

void stop(EventContext& context, AllocationId allocation) {
  Tables& tables = context.tables;
  Task* task = tables.find(allocation);
  if (task == nullptr) {
    if (!tables.tombstones.contains(allocation)) {
      tables.tombstones.add(allocation);
      context.act(ForgetTask{allocation});  // before anybody is told that it will never start
    }
    Task& refused = tables.tasks[allocation];
    refused.spec.allocation = allocation;
    refused.recorded = false;
    finishUnstarted(context, refused, EndCause::kCancelled, "stopped before it arrived");
  } else if (task->holdsUnits()) {
    if (task->intent == Intent::kNone) endEarly(context, *task, Intent::kStop);
  } else if (task->phase != Phase::kEnded) {
    cancelUnstarted(context, *task);
  }
}

void drop(EventContext& context, AllocationId allocation) {
  Tables& tables = context.tables;
  tables.tombstones.add(allocation);
  Task* task = tables.find(allocation);
  if (task == nullptr) return;
  task->intent = Intent::kDrop;
  if (task->holdsUnits()) {
    tables.clearAlarm(*task);
    kill(context, *task);
  } else {
    forget(context, allocation);
  }
}

void shutDown(EventContext& context, Duration grace) {
  context.tables.shutsDown = true;
  for (auto& [allocation, task] : context.tables.tasks) {
    if (!task.holdsUnits()) continue;
    task.spec.grace = std::min(task.spec.grace, grace);
    if (task.intent == Intent::kNone) endEarly(context, task, Intent::kShutDown);
    const MonotonicTime latest = context.now.steady + grace;
    if (task.alarm && *task.alarm > latest) context.tables.setAlarm(task, latest);
  }
}

void endEarly(EventContext& context, Task& task, Intent intent) {
  context.act(RecordReason{task.spec.allocation,
                           intent == Intent::kTimeOut ? EndCause::kTimedOut : EndCause::kCancelled});
  terminate(context, task, intent);
}

void terminate(EventContext& context, Task& task, Intent intent) {
  task.intent = intent;
  endThrottle(context, task);  // it is to end in time
  context.act(SignalTask{task.spec.allocation, SIGTERM});
  context.tables.setAlarm(task, context.now.steady + task.spec.grace);
}

void kill(EventContext& context, Task& task) {
  task.killed = true;
  context.act(SignalTask{task.spec.allocation, SIGKILL});
}

void cancelUnstarted(EventContext& context, Task& task) {
  finishUnstarted(context, task, EndCause::kCancelled, "stopped before it was started");
}

}  // namespace tarcil::monitor
