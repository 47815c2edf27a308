#include "monitor/logic/attachment.h"

#include "monitor/logic/launches.h"
#include "monitor/logic/reports.h"
#include "monitor/logic/stopping.h"
#include "monitor/logic/task_life.h"
#include "monitor/logic/throttling.h"

namespace tarcil::monitor {

void attach(EventContext& context, const MasterAttached& event) {
  Tables& tables = context.tables;
  tables.attached = true;
  tables.heardMaster = true;
  tables.lease.length = event.lease;
  tables.lease.renewAt = context.now.steady;
  tables.lease.askedAt.reset();
  // What was asked for before may have been given to others meanwhile, also where the answer said that it
  // had not.
  tables.lease.asking.clear();
  for (auto& [allocation, task] : tables.tasks) task.allowed = !task.spec.exclusive;
  reportAnew(tables);
  for (AllocationId allocation : event.drop) drop(context, allocation);
  for (AllocationId allocation : event.stop) stop(context, allocation);
  for (auto& [allocation, task] : tables.tasks) {
    if (task.phase == Phase::kFetching) fetch(context, task);
  }
  startReady(context);
}

void lose(EventContext& context) {
  context.tables.attached = false;
  endThrottles(context);
}

}  // namespace tarcil::monitor
