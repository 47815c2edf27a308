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

// As a list of their places.
void write(const ResourceSet& value, capnp::List<uint8_t>::Builder to);
ResourceSet readResources(capnp::List<uint8_t>::Reader from);

void write(const TaskPressure& value, wire::TaskPressure::Builder to);
TaskPressure read(wire::TaskPressure::Reader from);

void write(const TaskCharge& value, wire::TaskCharge::Builder to);
TaskCharge read(wire::TaskCharge::Reader from);

}  // namespace tarcil
