#include "cli/user_clock.h"

#include <cstdlib>

#include "env/clock.h"

namespace tarcil {

LocalClock userClock() {
  return {.now = systemClock().now().wall, .zone = TimeZone::ofUser(std::getenv("TZ"))};
}

}  // namespace tarcil
