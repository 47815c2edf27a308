// Takes up the connections that strangers make at one address, and never so many that the process has no
// descriptors left for its own work.
#pragma once

#include <kj/async-io.h>
#include <kj/io.h>
#include <kj/timer.h>

#include <functional>

namespace tarcil {

// Single-threaded. Where connections have three quarters of this process's descriptors, peers are turned
// away, at once, until one is free; a process that has none left goes on.
class Acceptor final {
 public:
  using Take = std::function<void(kj::Own<kj::AsyncIoStream>)>;

  // `timer` outlives it. `take` is called with each connection.
  Acceptor(kj::Timer& timer, kj::Own<kj::ConnectionReceiver> receiver, Take take);
  KJ_DISALLOW_COPY(Acceptor);

  // Until the promise is dropped; fails where nobody can be accepted any more at all.
  kj::Promise<void> run();

 private:
  kj::Promise<kj::Own<kj::AsyncIoStream>> accept();
  kj::Promise<void> turnAway(const kj::Exception& why);
  void warn(kj::StringPtr why);

  kj::Timer& timer_;
  kj::Own<kj::ConnectionReceiver> receiver_;
  const Take take_;
  uint64_t accepted_ = 0;
  kj::AutoCloseFd reserve_;
  kj::TimePoint nextWarning_ = kj::origin<kj::TimePoint>();
};

}  // namespace tarcil
