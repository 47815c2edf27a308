// Servers that cannot start tasks are quarantined, so that they do not use up the attempts of every job:
// tasks that fail at once leave units free, and so attract the next ones.
#pragma once

#include "core/model/launch.h"
#include "master/logic/tables.h"

namespace tarcil::master {

// A launch has failed through the server's fault. After MasterOptions::quarantineAfter of them in a row
// within the window, without a task that starts, the server takes no new tasks for a while; each time in a
// row twice as long, up to a bound. Forgotten by a restart of the master.
void noteNeverStarted(EventContext& context, Server& server, const TaskEnd& end);

// A task has started there: the server works again.
void noteStarted(Server& server);

// Ends the quarantine and resets the count. Does nothing where the server is in none.
void endQuarantine(EventContext& context, Server& server);

// Ends the quarantines whose time has come. Should a server fail again, the next one is longer.
void endQuarantines(EventContext& context);

}  // namespace tarcil::master
