// The agent's attachment to the master: what carries over from one to the next, and what starts over.
#pragma once

#include "agent/logic/tables.h"

namespace tarcil::agent {

// The master has accepted the agent (MasterAttached).
void attach(EventContext& context, const MasterAttached& event);

// The next of its jobs; with the last the agent begins to work.
void takeJobs(EventContext& context, const JobsTold& event);

// The connection to the master is lost.
void detach(EventContext& context);

}  // namespace tarcil::agent
