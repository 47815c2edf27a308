// Metrics over HTTP: where a role serves them and how a command reads them.
#pragma once

#include <kj/function.h>

#include <string>

#include "rpc/connection.h"

namespace tarcil {

// The text of a role's metrics as of now.
using MetricsText = kj::Function<kj::Promise<std::string>()>;

// So many read at a time: when one more comes, the one who has been there longest is disconnected.
inline constexpr size_t kMaxReaders = 32;
// Whoever has a connection for longer is disconnected.
inline constexpr auto kReadersTime = 30 * kj::SECONDS;

// Answers GET /metrics until the promise is dropped; any other path is not found. Whoever reaches the address
// may read. Other faults of a request are the asker's: they end its connection alone.
kj::Promise<void> serveMetrics(kj::Own<kj::ConnectionReceiver> receiver, kj::Timer& timer, MetricsText text);

// What a role serves at this address. The promise fails with DISCONNECTED where nobody listens there, and as
// Internal where what listens serves no metrics.
kj::Promise<std::string> fetchMetrics(Net net, const std::string& address);

}  // namespace tarcil
