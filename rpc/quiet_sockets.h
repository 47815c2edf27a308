// Unix sockets that do not wake their writer when the peer reads.
//
// KJ asks the kernel for edges of writability of every socket, all the time. Of a Unix socket there is one
// whenever the peer takes something out of it: a process that has said something is woken once more for
// nothing, half of all times where processes talk of tasks of milliseconds (docs/benchmarks.md).
#pragma once

#include <kj/async-io.h>
#include <kj/async-unix.h>

namespace tarcil {

// Asks for writability only while it has something that the socket did not take. Everything but stream
// sockets that it may own, which are non-blocking, it leaves to `inner`. Both outlive it, and it outlives
// what it wraps. Without capability passing. Single-threaded.
class QuietSockets final : public kj::LowLevelAsyncIoProvider {
 public:
  QuietSockets(kj::LowLevelAsyncIoProvider& inner, kj::UnixEventPort& events)
      : inner_(inner), events_(events) {}

  kj::Own<kj::AsyncInputStream> wrapInputFd(Fd fd, kj::uint flags) override {
    return inner_.wrapInputFd(fd, flags);
  }
  kj::Own<kj::AsyncOutputStream> wrapOutputFd(Fd fd, kj::uint flags) override {
    return inner_.wrapOutputFd(fd, flags);
  }
  kj::Own<kj::AsyncIoStream> wrapSocketFd(Fd fd, kj::uint flags) override;
  kj::Promise<kj::Own<kj::AsyncIoStream>> wrapConnectingSocketFd(Fd fd, const sockaddr* address,
                                                                 kj::uint size, kj::uint flags) override {
    return inner_.wrapConnectingSocketFd(fd, address, size, flags);
  }
  // `filter` is not asked: Unix sockets have permissions.
  kj::Own<kj::ConnectionReceiver> wrapListenSocketFd(Fd fd, NetworkFilter& filter, kj::uint flags) override;
  kj::Timer& getTimer() override { return inner_.getTimer(); }

 private:
  kj::LowLevelAsyncIoProvider& inner_;
  kj::UnixEventPort& events_;
};

}  // namespace tarcil
