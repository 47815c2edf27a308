// Agents that come and go, and the jobs they own (docs/protocol.md).
#pragma once

#include "master/logic/tables.h"

namespace tarcil::master {

// Resumes the agent where it names its current epoch, else starts a new one; gives it its unfinished jobs and
// those of agents that are overdue. Whoever spoke for the agent by another connection is told to end: it
// would keep jobs for ever that it hears nothing of any more.
void attachAgent(EventContext& context, const AgentAttached& event);

// The agent's grace begins. A session that was replaced, or speaks for no agent, is ignored.
void detachAgent(EventContext& context, SessionId session);

// Jobs of agents that stayed away beyond their grace go to attached ones, or to the next that attaches.
void handOverOverdue(EventContext& context);

}  // namespace tarcil::master
