#include "monitor/logic/throttling.h"

namespace tarcil::monitor {
namespace {

bool isShare(double value) {
  return value > 0 && value <= 1;
}

}  // namespace

void takeThrottle(EventContext& context, const ThrottleArrived& event) {
  if (!isShare(event.throttle.cpu) || !isShare(event.throttle.disk)) {
    context.act(RefuseChange{event.request, invalid("a task is throttled to a share above 0 and at most 1")});
    return;
  }
  Task* task = context.tables.find(event.allocation);
  if (task == nullptr || task->phase != Phase::kRunning || task->intent != Intent::kNone) {
    context.act(RefuseChange{event.request, notFound("this task is not running here")});
    return;
  }
  task->throttle = event.throttle;
  context.act(ThrottleTask{event.request, event.allocation, event.throttle});
}

void endThrottle(EventContext& context, Task& task) {
  if (task.throttle.isNone()) return;
  task.throttle = {};
  if (task.phase == Phase::kRunning) {
    context.act(ThrottleTask{std::nullopt, task.spec.allocation, task.throttle});
  }
}

void endThrottles(EventContext& context) {
  for (auto& [allocation, task] : context.tables.tasks) endThrottle(context, task);
}

}  // namespace tarcil::monitor
