// Profiles, alone and as pressures and shares on the command line.
#include "cli/output/profile_yaml.h"
#include "formats/profile_file.h"
#include "tests/fuzz/text_errors.h"
#include "tests/fuzz/text_mutation.h"

namespace tarcil::fuzz {
namespace {

void check(const Bytes& input) {
  const std::string text = textOf(input);
  if (const auto pressure = parsePressure(text, "p"); !pressure) requireNamesPlace(pressure.error(), "p");
  if (const auto share = parseShare(text, "p"); !share) requireNamesPlace(share.error(), "p");
  const auto profile = parseProfile(text, "p");
  if (!profile) return requireNamesPlace(profile.error(), "p");
  const std::string written = yamlOf(*profile);
  const auto again = parseProfile(written, "p");
  require(again.ok(), "a profile that was written is refused: " + written);
  require(*again == *profile, "a profile does not come back as it was written: " + written);
}

}  // namespace

const Target kProfile = {"profile", check, noSeeds, mutatedText<mutatedTree>};

}  // namespace tarcil::fuzz
