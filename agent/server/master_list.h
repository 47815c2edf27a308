// What each master of the cluster says of itself.
#pragma once

#include <string>
#include <vector>

#include "rpc/connection.h"
#include "schema/master.capnp.h"

namespace tarcil {

// Fills `to`, which has a place for each address, as ClientPort.masters says. Both outlive the promise.
kj::Promise<void> askStandings(Net net, const std::vector<std::string>& masters,
                               capnp::List<wire::MasterStanding>::Builder to);

}  // namespace tarcil
