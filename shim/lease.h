// Until when a task of an exclusive job may live: the monitor writes it into a file as often as the master
// says so. The file holds eight bytes, nanoseconds of CLOCK_BOOTTIME, which runs on while the machine sleeps;
// it is written over in place.
#pragma once

#include <cstdint>

#include "shim/sys.h"

namespace tarcil {

class Lease {
 public:
  // `path` empty: there is none, and it never ends.
  explicit Lease(const char* path) : exists_(*path != '\0') {
    if (exists_) fd_ = static_cast<int>(sys::open(path, O_RDONLY | O_CLOEXEC));
  }

  // True once. A file that cannot be read says that it has ended.
  bool hasJustEnded() {
    if (!isRunning() || nanosecondsLeft() > 0) return false;
    ended_ = true;
    return true;
  }
  bool isRunning() const { return exists_ && !ended_; }
  bool hasEnded() const { return ended_; }

  timespec left() const {
    const int64_t now = nanosecondsLeft();
    const int64_t nanoseconds = now > 0 ? now : 0;
    return {nanoseconds / kPerSecond, nanoseconds % kPerSecond};
  }

 private:
  static constexpr int64_t kPerSecond = 1'000'000'000;

  int64_t nanosecondsLeft() const {
    int64_t until = 0;
    if (!exists_ || sys::call(SYS_pread64, fd_, &until, sizeof until, 0) != sizeof until) return 0;
    timespec now{};
    sys::call(SYS_clock_gettime, CLOCK_BOOTTIME, &now);
    return until - (now.tv_sec * kPerSecond + now.tv_nsec);
  }

  const bool exists_;
  bool ended_ = false;
  int fd_ = -1;
};

}  // namespace tarcil
