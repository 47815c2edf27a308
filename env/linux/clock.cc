#include "env/clock.h"

#include <time.h>

namespace tarcil {
namespace {

// std::chrono's steady clock stands still while the machine sleeps.
MonotonicTime timeSinceBoot() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return MonotonicTime(std::chrono::duration_cast<Duration>(std::chrono::seconds(now.tv_sec) +
                                                            std::chrono::nanoseconds(now.tv_nsec)));
}

class SystemClock final : public Clock {
 public:
  Now now() const override {
    return {timeSinceBoot(), std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now())};
  }
};

}  // namespace

const Clock& systemClock() {
  static const SystemClock clock;
  return clock;
}

}  // namespace tarcil
