// Our own stdout or stderr, which may be read slowly or not at all for a while: nobody waits in a write.
#pragma once

#include <kj/async-unix.h>
#include <kj/timer.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "cli/task_output.h"

namespace tarcil {

class OwnStream final : public Pace {
 public:
  // With the error number of a write that failed, EPIPE where nobody reads any more; nothing is written
  // after.
  using Failed = std::function<void(int)>;

  // `port` and `timer` outlive it.
  OwnStream(kj::UnixEventPort& port, kj::Timer& timer, int fd, Failed failed)
      : port_(port), timer_(timer), fd_(fd), failed_(std::move(failed)) {}
  KJ_DISALLOW_COPY(OwnStream);

  // Writes it as soon as it is taken, in one piece with regard to other calls. However much it is; room()
  // says what should be.
  void write(std::string_view text);

  size_t room() override;
  kj::Promise<void> untilRoom() override { return untilWritten(); }
  kj::Timer& timer() override { return timer_; }

  // Until all is written, or never will be.
  kj::Promise<void> untilWritten();

 private:
  // How much a write takes now without waiting.
  size_t takenAtOnce() const;
  void writeOn();
  kj::Promise<void> writeAll();

  kj::UnixEventPort& port_;
  kj::Timer& timer_;
  const int fd_;
  const Failed failed_;
  bool isBroken_ = false;
  bool isWriting_ = false;  // some is waiting, and `writing_` goes on with it
  std::string waiting_;
  size_t written_ = 0;  // bytes of that
  // Of a pipe, socket or terminal that had no room once; a file always has.
  std::optional<kj::UnixEventPort::FdObserver> observer_;
  std::optional<kj::ForkedPromise<void>> writing_;
};

}  // namespace tarcil
