// Agents that attach and detach, and the jobs they own (docs/protocol.md).
#pragma once

#include "master/logic/tables.h"

namespace tarcil::master {

// Resumes the agent where it names its current epoch, else starts a new one; gives it its unfinished jobs and
// those of overdue agents. An earlier session of the agent is told to end: it would keep jobs for ever of
// which it hears no more.
void attachAgent(EventContext& context, const AgentAttached& event);

// The agent's timeout begins. A session that was replaced, or speaks for no agent, is ignored.
void detachAgent(EventContext& context, SessionId session);

// Jobs of agents that were away for longer than the agent timeout go to attached ones, or to the next
// that attaches.
void handOverOverdue(EventContext& context);

}  // namespace tarcil::master
