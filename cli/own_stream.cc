#include "cli/own_stream.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace tarcil {
namespace {

// As much as a pipe holds.
constexpr size_t kMostWaiting = 64u << 10;

}  // namespace

void OwnStream::write(std::string_view text) {
  if (isBroken_) return;
  waiting_ += text;
  if (isWriting_) return;
  writeOn();
  isWriting_ = !waiting_.empty();
  if (isWriting_) writing_.emplace(writeAll().eagerlyEvaluate(nullptr).fork());
}

size_t OwnStream::room() {
  return waiting_.empty() ? kMostWaiting : 0;
}

kj::Promise<void> OwnStream::untilWritten() {
  if (!isWriting_) return kj::READY_NOW;
  return writing_->addBranch();
}

// What cannot be written to any more takes all: the write says what is wrong. A pipe that poll() finds
// writable takes PIPE_BUF bytes, and an empty one as many as it holds.
size_t OwnStream::takenAtOnce() const {
  pollfd fd{fd_, POLLOUT, 0};
  if (::poll(&fd, 1, 0) == 0) return 0;
  const int held = ::fcntl(fd_, F_GETPIPE_SZ);
  int unread = 0;
  const bool isEmpty = held > 0 && ::ioctl(fd_, FIONREAD, &unread) == 0 && unread == 0;
  return isEmpty ? static_cast<size_t>(held) : PIPE_BUF;
}

void OwnStream::writeOn() {
  while (written_ < waiting_.size()) {
    const size_t size = std::min(takenAtOnce(), waiting_.size() - written_);
    if (size == 0) return;
    const ssize_t count = ::write(fd_, waiting_.data() + written_, size);
    if (count >= 0) {
      written_ += static_cast<size_t>(count);
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      isBroken_ = true;
      waiting_.clear();
      written_ = 0;
      return failed_(errno);
    }
  }
  waiting_.clear();
  written_ = 0;
}

kj::Promise<void> OwnStream::writeAll() {
  if (!observer_) observer_.emplace(port_, fd_, kj::UnixEventPort::FdObserver::OBSERVE_WRITE);
  // Observed first: room that comes from here on is seen.
  auto writable = observer_->whenBecomesWritable();
  writeOn();
  isWriting_ = !waiting_.empty();
  if (!isWriting_) return kj::READY_NOW;
  return writable.then([this]() { return writeAll(); });
}

}  // namespace tarcil
