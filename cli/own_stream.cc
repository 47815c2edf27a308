#include "cli/own_stream.h"

#include <limits.h>
#include <poll.h>

#include <utility>

namespace tarcil {

static_assert(Pace::kPiece <= PIPE_BUF, "what poll() says there is room for in a pipe");

// What cannot be written to any more has room: the write says what is wrong.
bool OwnStream::hasRoom() {
  pollfd fd{fd_, POLLOUT, 0};
  return ::poll(&fd, 1, 0) != 0;
}

kj::Promise<void> OwnStream::untilRoom() {
  if (!observer_) observer_.emplace(port_, fd_, kj::UnixEventPort::FdObserver::OBSERVE_WRITE);
  // Observed first: room that comes from here on is seen.
  if (hasRoom()) return kj::READY_NOW;
  if (!std::exchange(isAwaited_, true)) {
    room_.emplace(observer_->whenBecomesWritable().then([this]() { isAwaited_ = false; }).fork());
  }
  return room_->addBranch();
}

}  // namespace tarcil
