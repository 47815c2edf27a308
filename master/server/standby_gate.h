// The bootstrap capability of a master that stands by: it says who leads, and refuses all else.
#pragma once

#include <functional>

#include "master/server/standing.h"
#include "schema/master.capnp.h"

namespace tarcil {

// `standing` is asked at each call, and outlives the capability.
wire::MasterGate::Client makeStandbyGate(std::function<MasterStanding()> standing);

}  // namespace tarcil
