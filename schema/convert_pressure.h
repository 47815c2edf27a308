// Wire <-> core for what monitors measure; as convert.h.
#pragma once

#include "core/state/server_pressure.h"
#include "schema/master.capnp.h"

namespace tarcil {

void write(const ServerPressure& value, wire::ServerPressure::Builder to);
ServerPressure read(wire::ServerPressure::Reader from);

void write(const std::vector<AbsentPressure>& value, capnp::List<wire::AbsentPressure>::Builder to);
// Each resource once at most.
std::vector<AbsentPressure> read(capnp::List<wire::AbsentPressure>::Reader from);

}  // namespace tarcil
