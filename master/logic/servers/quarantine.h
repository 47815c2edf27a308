// Servers that cannot start tasks are set aside for a while, so that they do not use up the attempts of every
// job: tasks that fail at once leave units free, and so draw the next ones.
#pragma once

#include "core/model/launch.h"
#include "master/logic/tables.h"

namespace tarcil::master {

// A launch of a task has failed for a reason that lies with the server. So many of them in a row within the
// window (options.h), without a task that starts, and the server takes no new tasks for a while; each time
// in a row twice as long, up to a bound. A restart of the master forgets it.
void noteNeverStarted(EventContext& context, Server& server, const TaskEnd& end);

// A task has started there: whatever failed before, the server works.
void noteStarted(Server& server);

// The server takes tasks again, and the count begins anew. Nothing where it is in no quarantine.
void endQuarantine(EventContext& context, Server& server);

// Servers whose time has come take tasks again. Should they fail again, the next time is longer.
void endQuarantines(EventContext& context);

}  // namespace tarcil::master
