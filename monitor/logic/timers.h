// What is due by time alone.
#pragma once

#include "monitor/logic/tables.h"

namespace tarcil::monitor {

// Alarms of tasks: files are fetched again, timeouts end tasks, grace periods are over.
void runTimers(EventContext& context);

// Asks for the next TimerFired, unless one comes soon enough.
void askToWake(EventContext& context);

}  // namespace tarcil::monitor
