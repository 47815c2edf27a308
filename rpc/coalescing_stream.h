// A stream that reads in large pieces and joins small writes (rpc/turns.h: untilIdle).
// Under two-party RPC with several connections it halves the CPU per call and removes the delays of 100 ms
// and more that a write per message costs (docs/benchmarks.md).
#pragma once

#include <kj/async-io.h>

#include <cstdint>

namespace tarcil {

// Of what was written and the peer has not taken. Beyond it a writer waits, or, where the stream is that of a
// server, it reads no more: who asks and does not read makes it hold little more than that. Two ends that did
// so could wait for each other.
inline constexpr size_t kMaxUnread = 1 << 20;
enum class BeyondUnread : uint8_t { kWriterWaits, kReadsNoMore };

// Owns `inner`. Writes are taken into a buffer and reported as done; a failed write shows in the next write
// and ends the reading side. Bytes not yet flushed are lost when the stream is destroyed.
kj::Own<kj::AsyncIoStream> coalescing(kj::Timer& timer, kj::Own<kj::AsyncIoStream> inner,
                                      BeyondUnread beyond);

}  // namespace tarcil
