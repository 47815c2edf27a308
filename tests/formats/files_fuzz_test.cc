// No text, however broken, does more than be refused. Of texts that are nearly right: tests/fuzz.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/base/rng.h"
#include "formats/job_file.h"
#include "formats/profile_file.h"
#include "formats/servers_file.h"

namespace tarcil::files_fuzz_test {

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

}  // namespace tarcil::files_fuzz_test
