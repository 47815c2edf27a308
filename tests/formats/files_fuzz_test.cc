// No text, however broken, does more than be refused.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/base/rng.h"
#include "formats/job_file.h"
#include "formats/profile_file.h"
#include "formats/servers_file.h"

namespace tarcil::files_fuzz_test {

constexpr std::string_view kJob = R"yaml(name: train
application: logreg
profile: {caused: {llc: 60, memory_bandwidth: 84}, tolerated: {llc: 30}, platforms: {haswell-2.3: 1.0}}
command: [python3, "train.py", 'a b', &x "\u00e4"]
env: {KEY: value, OTHER: *x}
tasks: 20
priority: 50
grace: 10s
schedule: incremental
quality: {target: 0.95, confidence: 0.999}
placement:
  spread: server
  at_most: 2
  constraints: ["platform in (haswell-2.3)", "gpu = true", "rack != r3"]
limits: {memory: 2GiB, pids: 1000, output: 100MiB}
restart:
  - |
    text
)yaml";

constexpr std::string_view kServers = R"yaml(servers:
  - {name: "haswell-{n}", count: 10, rus: 8, rack: "r{rack}", servers_per_rack: 4}
platforms: {emulated: {memory_bandwidth: 0.5}}
)yaml";

// Every reader either reads the text or says why not.
void readAll(const std::string& text) {
  const auto expectSaid = [&text](const auto& result) {
    if (result.ok()) return;
    EXPECT_EQ(result.error().code, ErrorCode::kInvalid);
    EXPECT_FALSE(result.error().message.empty()) << text;
  };
  expectSaid(parseJob(text, "f", "/nonexistent", {}));
  expectSaid(parseProfile(text, "f"));
  expectSaid(parseServers(text, "f"));
  expectSaid(parsePressure(text, "f"));
}

std::string mutated(std::string text, Rng& rng) {
  static constexpr std::string_view kSyntax = "{}[]:,-?&*!|>'\"%@`# \n\t\\<=.~0019\xc3\xff";
  for (uint64_t edits = 1 + rng.below(8); edits > 0 && !text.empty(); --edits) {
    const size_t at = rng.below(text.size());
    switch (rng.below(4)) {
      case 0:
        text[at] = kSyntax[rng.below(kSyntax.size())];
        break;
      case 1:
        text.insert(at, 1, kSyntax[rng.below(kSyntax.size())]);
        break;
      case 2:
        text.erase(at, 1 + rng.below(12));
        break;
      default:
        text.insert(rng.below(text.size()), text.substr(at, 1 + rng.below(40)));
    }
  }
  return text;
}

RC_GTEST_PROP(Readers, SurviveRandomBytes, (const std::string& bytes)) {
  readAll(bytes);
}

RC_GTEST_PROP(Readers, SurviveRandomSyntax, (uint64_t seed)) {
  static constexpr std::string_view kWords[] = {"{",       "}",     "[", "]",   ": ", ",",     "- ", "? ",
                                                "&a ",     "*a",    "!", "|\n", "'",  "\"",    "\n", "  ",
                                                "command", "tasks", "x", "5",   "#",  "---\n", "%",  "<<"};
  Rng rng(seed);
  std::string text;
  for (uint64_t words = rng.below(60); words > 0; --words) text += kWords[rng.below(std::size(kWords))];
  readAll(text);
}

RC_GTEST_PROP(Readers, SurviveMutationsOfGoodFiles, (uint64_t seed)) {
  Rng rng(seed);
  for (std::string_view good : {kJob, kServers}) readAll(mutated(std::string(good), rng));
}

}  // namespace tarcil::files_fuzz_test
