// The capabilities that an agent hands out to clients (schema/agent.capnp).
#pragma once

#include "agent/server/agent_server.h"
#include "schema/agent.capnp.h"

namespace tarcil {

// The bootstrap capability of one connection. `server` outlives every capability.
wire::AgentGate::Client makeAgentGate(AgentServer& server, LetIn letIn);

}  // namespace tarcil
