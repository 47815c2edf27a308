// Agents that attach and detach, and the jobs they own (docs/protocol.md).
#pragma once

#include "master/logic/tables.h"

namespace tarcil::master {

// Resumes the agent where it names its current epoch, else starts a new one; gives it the first of its
// unfinished jobs, and of those of overdue agents. An earlier session of the agent is told to end: it would
// keep jobs for ever of which it hears no more. Exhausted where there are kMaxAgents, none of which can be
// forgotten.
void attachAgent(EventContext& context, const AgentAttached& event);

// The next of its jobs, in order of their ids. An agent has nothing to do with any before it has them all; as
// a page is made when it is asked for, no event lists more jobs than go into one message.
void tellMoreJobs(EventContext& context, const MoreJobsAsked& event);

// The agent's timeout begins. A session that was replaced, or speaks for no agent, is ignored.
void detachAgent(EventContext& context, SessionId session);

// Jobs of agents that were away for longer than the agent timeout go to attached ones, or to the next
// that attaches.
void handOverOverdue(EventContext& context);

}  // namespace tarcil::master
