#include "env/clock.h"

namespace tarcil {
namespace {

class SystemClock final : public Clock {
 public:
  Now now() const override {
    return {std::chrono::time_point_cast<Duration>(std::chrono::steady_clock::now()),
            std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now())};
  }
};

}  // namespace

const Clock& systemClock() {
  static const SystemClock clock;
  return clock;
}

}  // namespace tarcil
