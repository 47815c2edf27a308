// The capabilities that a master hands out (schema/master.capnp). Thin: they check who calls, convert, and
// ask the server.
#pragma once

#include "master/server/master_server.h"
#include "schema/master.capnp.h"

namespace tarcil {

// The bootstrap capability of one connection. `server` outlives every capability.
wire::MasterGate::Client makeMasterGate(MasterServer& server);

}  // namespace tarcil
