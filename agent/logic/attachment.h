// The attachment to the master: what holds over from one to the next, and what begins anew.
#pragma once

#include "agent/logic/tables.h"

namespace tarcil::agent {

// The master took the agent in. In the epoch of before, commits in flight are sent again as they were. In a
// new one they came to nothing: jobs that only they told of are submitted anew.
void attach(EventContext& context, const MasterAttached& event);

// The connection is lost; the copy of the state stays, for the clients that ask meanwhile what is held.
void lose(Tables& tables);

}  // namespace tarcil::agent
