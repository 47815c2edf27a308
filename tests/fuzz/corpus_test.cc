// Every input of the corpora, every seed and a number of mutations of each, in every build: what libFuzzer
// has found once is not found again.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>

#include "tests/fuzz/target.h"

namespace tarcil::fuzz {

// For GoogleTest, which would print an address.
// NOLINTNEXTLINE(readability-identifier-naming): its name there
void PrintTo(const Target* target, std::ostream* out) {
  *out << target->name;
}

}  // namespace tarcil::fuzz

namespace tarcil::fuzz::corpus_test {

constexpr const Target* kTargets[] = {
    &kBundle,      &kCalls,    &kChanges,     &kExecutorFrames, &kImage,     &kJobFile,  &kMeasurement,
    &kMessages,    &kMetric,   &kPackedFile,  &kProfile,        &kRecording, &kScenario, &kJournal,
    &kServersFile, &kShimPlan, &kStoreRecord, &kTaskRecord,     &kTokens,    &kTrace};

constexpr size_t kMutations = 2'000;  // of a target
constexpr size_t kInARow = 5;         // mutations of mutations
constexpr size_t kMaxCorpusFile = 64 << 10;

struct Input {
  std::string name;
  Bytes bytes;
};

std::vector<Input> inputsOf(const Target& target) {
  std::vector<Input> inputs;
  std::error_code noFolder;  // all of its inputs are made
  const std::filesystem::path folder = TARCIL_CORPUS / std::filesystem::path(target.name);
  for (const auto& entry : std::filesystem::directory_iterator(folder, noFolder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    inputs.push_back({entry.path(), {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()}});
  }
  std::ranges::sort(inputs, {}, &Input::name);
  for (const Bytes& seed : target.seeds()) inputs.push_back({"seed " + std::to_string(inputs.size()), seed});
  return inputs;
}

class Corpus : public testing::TestWithParam<const Target*> {
 protected:
  const Target& target() const { return *GetParam(); }
};

TEST_P(Corpus, HoldsWhatItPromises) {
  const auto inputs = inputsOf(target());
  ASSERT_FALSE(inputs.empty());
  for (const Input& input : inputs) {
    EXPECT_LE(input.bytes.size(), kMaxCorpusFile) << input.name;
    EXPECT_NO_THROW(target().check(input.bytes)) << input.name;
  }
}

// They are the same each time: what fails here is found again with the name of the input and the number.
TEST_P(Corpus, HoldsWhatItPromisesWhenItIsMutated) {
  const auto inputs = inputsOf(target());
  const size_t ofEach = kMutations / inputs.size() + 1;
  for (const Input& input : inputs) {
    for (size_t number = 0; number < ofEach; ++number) {
      Rng rng(number);
      Bytes changed = input.bytes;
      for (size_t left = 1 + number % kInARow; left > 0; --left) changed = target().mutated(changed, rng);
      ASSERT_NO_THROW(target().check(changed)) << input.name << ", mutation " << number;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Each, Corpus, testing::ValuesIn(kTargets),
                         [](const auto& instance) { return std::string(instance.param->name); });

}  // namespace tarcil::fuzz::corpus_test
