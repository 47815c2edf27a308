// What operators do to servers: keep new tasks away from them, and send those that they have elsewhere.
#pragma once

#include "master/logic/tables.h"

namespace tarcil::master {

// All of the servers, or none and an error. A drained task's attempt does not count: it is queued again
// however often it was moved, unless it succeeds on its own or its job is cancelled meanwhile.
Status steerServers(EventContext& context, const ServersSteered& event);

// Ends what is left on servers whose drain's deadline has come.
void drainOverdue(EventContext& context);

// At a start: drains go on where they were. Their deadlines are wall-clock times.
void resumeDrains(EventContext& context);

}  // namespace tarcil::master
