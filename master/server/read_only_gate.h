// What a read-only master offers (schema/agent.capnp, ReadOnlyGate): no agent is attached that commands could
// log in at.
#pragma once

#include "schema/agent.capnp.h"
#include "schema/master.capnp.h"

namespace tarcil {

// The bootstrap capability of one connection. `master`: that of a master that is not read-only.
wire::ReadOnlyGate::Client makeReadOnlyGate(wire::MasterGate::Client master);

}  // namespace tarcil
