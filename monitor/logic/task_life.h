// What happens to a task of its own accord: it starts once nothing stands against it, runs, ends, and
// is forgotten.
#pragma once

#include <string>

#include "monitor/logic/tables.h"

namespace tarcil::monitor {

// Starts the tasks that are ready and whose units and extras nobody holds; those of exclusive jobs only while
// the lease lasts and the master has said that they may start: others are named in the next renewal. Nothing
// starts before the master was heard. O(ready tasks).
void startReady(EventContext& context);

// From the executor: the command was executed.
void takeImage(EventContext& context, const ImageFound& event);
void takeStarted(EventContext& context, const TaskStarted& event);

// From the executor: the task and all its processes are gone.
void takeEnded(EventContext& context, const TaskEnded& event);

// Any phase -> kEnded: the units are free, and the end is to be reported, but of a task that was dropped.
void finish(EventContext& context, Task& task, TaskEnd end);

// finish() for a task that never ran. `problem` is for people, `exitCode` as in TaskEnd. Requires: it holds
// no units.
void finishUnstarted(EventContext& context, Task& task, EndCause cause, std::string problem,
                     int exitCode = 0);

// Its record goes and it is never started again. Requires: the task is known and holds no units.
void forget(EventContext& context, AllocationId allocation);

// The end as the executor saw it, with the reason that only the monitor knows.
TaskEnd withIntent(const Task& task, TaskEnd end);

}  // namespace tarcil::monitor
