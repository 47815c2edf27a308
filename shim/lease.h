// Until when a task of an exclusive job may live: the monitor writes it into a file as often as the master
// says so. The file holds eight bytes, nanoseconds of CLOCK_BOOTTIME, which runs on while the machine sleeps;
// it is written over in place.
//
// The shim and the namespace's init keep it, each by itself: one of them may be stopped, and the shim waits
// for the disk that it writes output to. So none of this waits for a disk: the file stays in memory.
#pragma once

#include <cstdint>

#include "shim/sys.h"

namespace tarcil {

class Lease {
 public:
  // `path` empty: there is none, and it never ends. One for each process: its timer is not inherited.
  // Requires: SIGALRM is blocked.
  explicit Lease(const char* path) : exists_(*path != '\0') {
    if (!exists_) return;
    mapFile(path);
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGALRM;
    sys::call(SYS_timer_create, CLOCK_BOOTTIME, &event, &timer_);
  }

  // True once. While it lasts, SIGALRM comes when the end that is known now is there: then it is time to ask
  // again. A file that cannot be read says that it has ended.
  bool hasJustEnded() {
    if (!exists_ || ended_) return false;
    const int64_t until = until_ == nullptr ? 0 : *until_;
    ended_ = until <= nanosecondsSinceBoot();
    if (!ended_) wakeAt(until);
    return ended_;
  }
  bool hasEnded() const { return ended_; }

 private:
  static constexpr int64_t kPerSecond = 1'000'000'000;

  void mapFile(const char* path) {
    const int file = static_cast<int>(sys::open(path, O_RDONLY | O_CLOEXEC));
    int64_t until = 0;
    // A shorter file has no memory to look at.
    if (sys::call(SYS_pread64, file, &until, sizeof until, 0) == sizeof until) {
      const long memory = sys::call(SYS_mmap, 0, sizeof until, PROT_READ, MAP_SHARED | MAP_LOCKED, file, 0);
      if (memory > 0) until_ = std::bit_cast<const volatile int64_t*>(memory);
    }
    sys::close(file);
  }

  static int64_t nanosecondsSinceBoot() {
    timespec now{};
    sys::call(SYS_clock_gettime, CLOCK_BOOTTIME, &now);
    return now.tv_sec * kPerSecond + now.tv_nsec;
  }

  void wakeAt(int64_t until) const {
    const itimerspec when{.it_interval = {}, .it_value = {until / kPerSecond, until % kPerSecond}};
    sys::call(SYS_timer_settime, timer_, TIMER_ABSTIME, &when, 0);
  }

  const bool exists_;
  bool ended_ = false;
  const volatile int64_t* until_ = nullptr;
  int timer_ = 0;
};

}  // namespace tarcil
