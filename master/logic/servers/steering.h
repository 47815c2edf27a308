// What operators do to servers: cordon, uncordon, drain and remove them.
#pragma once

#include "master/logic/tables.h"

namespace tarcil::master {

// Changes all of the servers, or none and returns an error. A drained task's attempt does not count: the task
// is queued again however often it was moved, unless it succeeds or its job is cancelled meanwhile. A server
// that is removed must be down, its tasks lost; it comes back as cordoned as it is then.
Status steerServers(EventContext& context, const ServersSteered& event);

// Ends the tasks that are left on servers whose drain's deadline has come.
void drainOverdue(EventContext& context);

// Removes servers that were down for MasterOptions::removeDownServersAfter.
void removeOverdue(EventContext& context);

// At a start: drains go on. Their deadlines are wall-clock times.
void resumeDrains(EventContext& context);

}  // namespace tarcil::master
