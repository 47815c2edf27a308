#include "cli/pressure_period.h"

#include "core/base/failure.h"
#include "formats/units.h"

namespace tarcil {
namespace {

Duration periodOf(const std::string& flag, const std::string& text, const std::string& otherwise) {
  const auto period = parseDuration(text);
  if (!period) throw badInput(flag + ": " + period.error().message + otherwise);
  if (*period < std::chrono::milliseconds(100) || *period > std::chrono::hours(1)) {
    throw badInput(flag + ": " + text + " is out of range; write 100ms to 1h" + otherwise);
  }
  return *period;
}

}  // namespace

Duration pressurePeriodOf(const std::string& text) {
  if (text == "off") return Duration::zero();
  return periodOf("--pressure-period", text, "; or off");
}

Duration performancePeriodOf(const std::string& text) {
  return periodOf("--performance-period", text, "");
}

}  // namespace tarcil
