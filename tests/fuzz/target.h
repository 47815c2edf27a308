// Inputs that come from outside: how each kind is read, and what has to hold whatever comes.
//
// A target is run three ways: its corpus and mutations of it in a test of every build (corpus_test.cc), for
// minutes by libFuzzer (scripts/fuzz.sh), and with a number of runs in the gate.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/rng.h"

namespace tarcil::fuzz {

using Bytes = std::vector<uint8_t>;

struct Target {
  // Of its folder in tests/fuzz/corpus and, behind tarcil_fuzz_, of its program.
  std::string_view name;
  // Reads the input as the program does. Throws Broken where something that has to hold does not. Any other
  // exception is a reader's that throws what it should not.
  void (*check)(const Bytes& input);
  // Valid inputs that are made and not kept in the corpus.
  std::vector<Bytes> (*seeds)();
  // The input with some of its parts changed, which is still of the form that its reader expects. Of what has
  // not that form some bytes are changed.
  Bytes (*mutated)(const Bytes& input, Rng& rng);
};

extern const Target kBundle, kCalls, kChanges, kExecutorFrames, kImage, kJobFile, kJournal, kMeasurement,
    kMessages, kMetric, kPackedFile, kProfile, kRecording, kScenario, kServersFile, kShimPlan, kStoreRecord,
    kTaskRecord, kTokens, kTrace;

class Broken : public std::logic_error {
  using std::logic_error::logic_error;
};

inline void require(bool holds, const std::string& what) {
  if (!holds) throw Broken(what);
}

// --- Inputs that are text

inline std::string textOf(const Bytes& input) {
  return {input.begin(), input.end()};
}
inline Bytes inputOf(std::string_view text) {
  return {text.begin(), text.end()};
}
// Of a target that has all of them in the corpus.
inline std::vector<Bytes> noSeeds() {
  return {};
}

}  // namespace tarcil::fuzz
