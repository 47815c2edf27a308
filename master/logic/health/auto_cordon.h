// Servers that take no new tasks for a while because a task there suffers from its neighbours.
#pragma once

#include "master/logic/health/violation_case.h"

namespace tarcil::master {

// Cordons the task's server for MasterOptions::maxAutoCordon at most. False, and nothing is done, where that
// was done for this task before, the server is cordoned already or was a while ago, it is reserved for a job,
// or as many servers are as may be.
bool autoCordon(ViolationCase& violation);

// To be called when a violation on the server is over: the last one ends its auto-cordon a while later.
void shortenAutoCordon(EventContext& context, const Server& server);

// The server takes new tasks again, whatever it was auto-cordoned for; not again auto-cordoned for a while.
void endAutoCordon(EventContext& context, Server& server);

// Ends those whose time has come.
void endDueAutoCordons(EventContext& context);

}  // namespace tarcil::master
