// Notices a peer that is there and does not go on: a process that was stopped, or that hangs. Its kernel
// keeps the connection and takes what is sent to it, so only what its event loop says shows that it goes on.
#pragma once

#include <kj/async-io.h>
#include <kj/timer.h>

#include <cstdint>
#include <functional>

namespace tarcil {

// How often a peer is looked at. One of which nothing came since the last look is asked for a word.
inline constexpr auto kHeartbeat = 1 * kj::SECONDS;
// A peer of which nothing came for so many looks in a row, and that took nothing of what waits to be sent to
// it, is silent. Looks count and not time, so that one process that was stopped itself does not take its
// peers for silent. Long enough for a network that loses every tenth packet, short beside the timeouts of the
// master.
inline constexpr int kLooksUntilSilent = 5;

// The heart of one connection. Single-threaded; `timer` outlives it.
class Heartbeat final {
 public:
  explicit Heartbeat(kj::Timer& timer) : timer_(timer) {}
  KJ_DISALLOW_COPY(Heartbeat);

  // The stream to be used in the place of `inner`. Once; this object outlives it.
  kj::Own<kj::AsyncIoStream> listenTo(kj::Own<kj::AsyncIoStream> inner);

  // `ask` sends what the peer's event loop answers, and gives a promise for that. Resolves when the peer is
  // silent; dropped, it drops what is being asked. While nobody reads from it (rpc/connection.h bounds its
  // calls) it is expected to take what is sent to it, and not to say anything.
  kj::Promise<void> silence(std::function<kj::Promise<void>()> ask);

 private:
  class Stream;

  kj::Promise<void> lookAgain();
  void look();

  kj::Timer& timer_;
  std::function<kj::Promise<void>()> ask_;
  kj::Promise<void> asking_ = nullptr;
  bool isAsking_ = false;
  bool isReading_ = false;
  bool isWriting_ = false;
  bool hasMoved_ = false;  // since the last look: bytes came, or went that had waited
  uint64_t looks_ = 0;
  int silentLooks_ = 0;  // in a row
};

}  // namespace tarcil
