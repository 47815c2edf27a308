// config.json of a user's OCI bundle.
#include "monitor/container/oci_bundle.h"
#include "tests/fuzz/text_errors.h"
#include "tests/fuzz/text_mutation.h"

namespace tarcil::fuzz {
namespace {

void check(const Bytes& input) {
  const auto bundle = parseBundle(textOf(input), "config.json", "/bundle");
  if (!bundle) return requireBegins(bundle.error(), "config.json: ");
  require(bundle->root.starts_with('/') && bundle->root.find('\0') == std::string::npos,
          "the root is no path");
  for (const auto& [name, value] : bundle->env) {
    require(!name.empty() && (name + value).find('\0') == std::string::npos &&
                name.find('=') == std::string::npos,
            "a variable is none");
  }
}

}  // namespace

const Target kBundle = {"bundle", check, noSeeds, mutatedText<mutatedTree>};

}  // namespace tarcil::fuzz
