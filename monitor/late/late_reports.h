// What a monitor reports of the units of late-bound tasks, on the wire.
#pragma once

#include <string>

#include "latebinding/pool_messages.h"
#include "schema/master.capnp.h"

namespace tarcil {

void write(const std::string& server, const late::PoolReport& report, wire::PoolReport::Builder to);
void write(const late::PoolPressure& pressure, wire::PoolPressure::Builder to);
late::PoolAnswer read(wire::PoolAnswer::Reader from);

}  // namespace tarcil
