// Units of a running task that are exchanged for others of its server.
#pragma once

#include "monitor/logic/tables.h"

namespace tarcil::monitor {

// Has the executor resize the task, or refuses: where it does not run on, or another task has one of
// the units.
void takeResize(EventContext& context, const ResizeArrived& event);

// The executor has done it: the task holds these units, and those it gave up may start others.
void takeResized(EventContext& context, const TaskResized& event);

}  // namespace tarcil::monitor
