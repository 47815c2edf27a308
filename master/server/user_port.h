// What users ask of the shared state, for one caller (schema/master.capnp, UserPort).
#pragma once

#include "master/server/master_server.h"
#include "schema/master.capnp.h"

namespace tarcil {

// `server` outlives the capability.
wire::UserPort::Client makeUserPort(MasterServer& server, Caller caller);

}  // namespace tarcil
