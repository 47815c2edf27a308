// Work that is due because of the time alone.
#pragma once

#include "agent/logic/tables.h"

namespace tarcil::agent {

// Handles the timers of jobs: ends delays of tasks, marks jobs as overdue, reports pending reasons.
void runTimers(EventContext& context);

// Requests the next TimerFired, unless one comes soon enough: at once if planning is left over.
void requestTimer(EventContext& context);

}  // namespace tarcil::agent
