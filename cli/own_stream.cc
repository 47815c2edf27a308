#include "cli/own_stream.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <utility>

namespace tarcil {

// What cannot be written to any more has room: the write says what is wrong. A pipe that poll() finds
// writable takes PIPE_BUF bytes, and an empty one as many as it holds.
size_t OwnStream::room() {
  pollfd fd{fd_, POLLOUT, 0};
  if (::poll(&fd, 1, 0) == 0) return 0;
  const int held = ::fcntl(fd_, F_GETPIPE_SZ);
  int unread = 0;
  const bool isEmpty = held > 0 && ::ioctl(fd_, FIONREAD, &unread) == 0 && unread == 0;
  return isEmpty ? static_cast<size_t>(held) : PIPE_BUF;
}

kj::Promise<void> OwnStream::untilRoom() {
  if (!observer_) observer_.emplace(port_, fd_, kj::UnixEventPort::FdObserver::OBSERVE_WRITE);
  // Observed first: room that comes from here on is seen.
  if (room() > 0) return kj::READY_NOW;
  if (!std::exchange(isAwaited_, true)) {
    room_.emplace(observer_->whenBecomesWritable().then([this]() { isAwaited_ = false; }).fork());
  }
  return room_->addBranch();
}

}  // namespace tarcil
