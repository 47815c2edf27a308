// A client's input files on their way to the agent, in pieces (schema/agent.capnp: Upload).
#pragma once

#include "agent/server/agent_server.h"
#include "schema/agent.capnp.h"

namespace tarcil {

// Of so many bytes. The seat is given back when the submission is answered, when the port goes, or when the
// client has said nothing for a minute. `server` outlives the port.
wire::Upload::Client makeUploadPort(AgentServer& server, kj::Own<FairCalls::User> user, const Caller& caller,
                                    uint64_t bytes, kj::Own<FairCalls::Seat> seat);

}  // namespace tarcil
