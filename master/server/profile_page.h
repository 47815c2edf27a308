// One answer to UserPort.profiles (schema/master.capnp).
#pragma once

#include "core/state/caller.h"
#include "master/logic/master_logic.h"
#include "schema/master.capnp.h"

namespace tarcil {

// What comes behind `after` and goes into one message, and where the next goes on.
void writeProfiles(const MasterLogic& logic, const Caller& caller, wire::ProfilePosition::Reader after,
                   wire::UserPort::ProfilesResults::Builder to);

}  // namespace tarcil
