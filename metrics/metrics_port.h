// Metrics over HTTP: where a role serves them and how a command reads them.
#pragma once

#include <kj/function.h>

#include <string>

#include "rpc/connection.h"

namespace tarcil {

// The text of a role's metrics as of now.
using MetricsText = kj::Function<kj::Promise<std::string>()>;

// Answers GET /metrics until the promise is dropped; any other path is not found. Whoever reaches the address
// may read. Other faults of a request are the asker's: they end its connection alone.
kj::Promise<void> serveMetrics(kj::Own<kj::ConnectionReceiver> receiver, kj::Timer& timer, MetricsText text);

// What a role serves at this address. The promise fails with DISCONNECTED where nobody listens there, and as
// Internal where what listens serves no metrics.
kj::Promise<std::string> fetchMetrics(Net net, const std::string& address);

}  // namespace tarcil
