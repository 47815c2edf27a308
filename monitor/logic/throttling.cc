#include "monitor/logic/throttling.h"

#include <algorithm>

namespace tarcil::monitor {
namespace {

bool areShares(const Throttle& throttle) {
  return std::ranges::all_of(kThrottleShares,
                             [&](auto share) { return throttle.*share > 0 && throttle.*share <= 1; });
}

}  // namespace

void takeThrottle(EventContext& context, const ThrottleArrived& event) {
  if (!areShares(event.throttle)) {
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
