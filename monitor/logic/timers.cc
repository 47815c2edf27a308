#include "monitor/logic/timers.h"

#include "monitor/logic/launches.h"
#include "monitor/logic/stopping.h"

namespace tarcil::monitor {
namespace {

void ring(EventContext& context, Task& task) {
  if (task.phase == Phase::kFetching) {
    if (context.tables.attached) fetch(context, task);
  } else if (task.intent == Intent::kNone) {
    endEarly(context, task, Intent::kTimeOut);
  } else {
    kill(context, task);
  }
}

}  // namespace

void runTimers(EventContext& context) {
  Tables& tables = context.tables;
  tables.wakeAt.reset();
  while (!tables.alarms.empty() && tables.alarms.begin()->first <= context.now.steady) {
    Task& task = tables.tasks.at(tables.alarms.begin()->second);
    tables.clearAlarm(task);
    ring(context, task);
  }
}

void askToWake(EventContext& context) {
  Tables& tables = context.tables;
  const Lease& lease = tables.lease;
  std::optional<MonotonicTime> due;
  if (!tables.alarms.empty()) due = tables.alarms.begin()->first;
  const bool renews = tables.attached && !lease.askedAt && lease.length != Duration::max();
  if (renews && (!due || lease.renewAt < *due)) due = lease.renewAt;
  if (!due) return;
  const MonotonicTime next = *due;
  // Waking too early is harmless, so an alarm that was cleared is not taken back.
  if (tables.wakeAt && *tables.wakeAt <= next) return;
  tables.wakeAt = next;
  context.act(WakeAt{next});
}

}  // namespace tarcil::monitor
