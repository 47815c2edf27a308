// Tasks that are ended by the monitor: SIGTERM, the task's grace period, SIGKILL.
#pragma once

#include "monitor/logic/tables.h"

namespace tarcil::monitor {

// The master wants the task stopped. One that holds no units is over at once; one that is not known here is
// never started from then on. A repeat changes nothing.
void stop(EventContext& context, AllocationId allocation);

// The task is nobody's: it is killed and forgotten without a report.
void drop(EventContext& context, AllocationId allocation);

// Every task is stopped, with at most this much grace, and nothing is started any more.
void shutDown(EventContext& context, Duration grace);

// Writes down why, then terminates. Requires: the task holds units and has no intent; `intent` is kStop,
// kTimeOut or kShutDown.
void endEarly(EventContext& context, Task& task, Intent intent);

// SIGTERM now, and an alarm for the SIGKILL. Requires: the reason is written down.
void terminate(EventContext& context, Task& task, Intent intent);

// SIGKILL, to every process of the task.
void kill(EventContext& context, Task& task);

// A recorded launch that was stopped before its command was executed.
void cancelUnstarted(EventContext& context, Task& task);

}  // namespace tarcil::monitor
