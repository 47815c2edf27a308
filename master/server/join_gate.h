// What a new machine finds at the joining port (schema/members.capnp).
#pragma once

#include "master/server/registrar.h"
#include "schema/members.capnp.h"

namespace tarcil {

// The bootstrap capability of one connection; `registrar` outlives it. Whoever has it stays a visitor
// (rpc/visitors.h).
wire::JoinGate::Client makeJoinGate(Registrar& registrar, LetIn letIn);

}  // namespace tarcil
