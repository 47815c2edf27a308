// What is due by time alone.
#pragma once

#include "agent/logic/tables.h"

namespace tarcil::agent {

// Delays of tasks that are over, jobs that have waited for their bound, and reasons that may be reported now.
void runTimers(EventContext& context);

// Asks for the next TimerFired, unless one comes soon enough: at once where work is left over.
void askToWake(EventContext& context);

}  // namespace tarcil::agent
