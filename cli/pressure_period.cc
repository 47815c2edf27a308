#include "cli/pressure_period.h"

#include "cli/failure.h"
#include "cli/units.h"

namespace tarcil {

Duration pressurePeriodOf(const std::string& text) {
  if (text == "off") return Duration::zero();
  const auto period = parseDuration(text);
  if (!period) throw badInput("--pressure-period: " + period.error().message + "; or off");
  if (*period < std::chrono::milliseconds(100) || *period > std::chrono::hours(1)) {
    throw badInput("--pressure-period: " + text + " is out of range; write 100ms to 1h, or off");
  }
  return *period;
}

}  // namespace tarcil
