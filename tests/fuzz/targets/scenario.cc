// Scenario files (`tarcil sim`). The files that they name are not read.
#include "formats/scenario_file.h"
#include "tests/fuzz/text_errors.h"
#include "tests/fuzz/text_mutation.h"

namespace tarcil::fuzz {
namespace {

void check(const Bytes& input) {
  const auto request = parseScenario(textOf(input), "scenario.yaml");
  if (!request) return requireNamesPlace(request.error(), "scenario.yaml");
  require(!request->scenario.platforms.empty() && !request->scenario.seeds.empty() &&
              !request->scenario.policies.empty(),
          "a scenario is read that has nothing to simulate");
  if (const Status status = checkScenario(request->scenario); !status) requireBegins(status.error(), "");
}

}  // namespace

const Target kScenario = {"scenario", check, noSeeds, mutatedText<mutatedTree>};

}  // namespace tarcil::fuzz
