// The capabilities that a monitor hands out to agents (schema/monitor.capnp).
#pragma once

#include "monitor/server/monitor_server.h"
#include "schema/monitor.capnp.h"

namespace tarcil {

// The bootstrap capability of one connection. `server` outlives every capability.
wire::MonitorGate::Client makeMonitorGate(MonitorServer& server, LetIn letIn);

}  // namespace tarcil
