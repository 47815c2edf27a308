// Our own stdout or stderr, which may be read slowly or not at all for a while.
#pragma once

#include <kj/async-unix.h>
#include <kj/timer.h>

#include <optional>

#include "cli/task_output.h"

namespace tarcil {

class OwnStream final : public Pace {
 public:
  // `port` and `timer` outlive it.
  OwnStream(kj::UnixEventPort& port, kj::Timer& timer, int fd) : port_(port), timer_(timer), fd_(fd) {}
  KJ_DISALLOW_COPY(OwnStream);

  size_t room() override;
  kj::Promise<void> untilRoom() override;
  kj::Timer& timer() override { return timer_; }

 private:
  kj::UnixEventPort& port_;
  kj::Timer& timer_;
  const int fd_;
  // Of a pipe, socket or terminal that had no room once; a file always has.
  std::optional<kj::UnixEventPort::FdObserver> observer_;
  std::optional<kj::ForkedPromise<void>> room_;  // that several wait for, where it is awaited
  bool isAwaited_ = false;
};

}  // namespace tarcil
