// Running tasks that the master throttles, for as long as it is connected.
#pragma once

#include "monitor/logic/tables.h"

namespace tarcil::monitor {

// Has the executor throttle the task, or refuses: where it does not run on, or a share is none.
void takeThrottle(EventContext& context, const ThrottleArrived& event);

// The task is throttled no more, if it was.
void endThrottle(EventContext& context, Task& task);

// No task is throttled any more: nobody would ever end it.
void endThrottles(EventContext& context);

}  // namespace tarcil::monitor
