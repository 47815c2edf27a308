// What a task prints that measures a profile.
#include "schema/measurement_text.h"

#include "tests/fuzz/text_errors.h"
#include "tests/fuzz/text_mutation.h"

namespace tarcil::fuzz {
namespace {

void check(const Bytes& input) {
  const auto measurement = parseMeasurement(textOf(input));
  if (!measurement) return require(!measurement.error().message.empty(), "it is refused, and not said why");
  const std::string written = textOf(*measurement);
  const auto again = parseMeasurement(written);
  require(again.ok() && *again == *measurement,
          "a measurement does not come back as it was written: " + written);
}

}  // namespace

const Target kMeasurement = {"measurement", check, noSeeds, mutatedText<mutatedTree>};

}  // namespace tarcil::fuzz
