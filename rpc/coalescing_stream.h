// A stream that reads in large pieces and joins small writes until the event loop has nothing else to do.
// Under two-party RPC with several connections it halves the CPU per call and removes the delays of 100 ms
// and more that a write per message costs (docs/benchmarks.md).
#pragma once

#include <kj/async-io.h>

namespace tarcil {

// Owns `inner`. Writes are taken into a buffer and reported as done, up to a bound; a failed write shows in
// the next write and ends the reading side. Bytes not yet flushed are lost when the stream is destroyed.
kj::Own<kj::AsyncIoStream> coalescing(kj::Own<kj::AsyncIoStream> inner);

}  // namespace tarcil
