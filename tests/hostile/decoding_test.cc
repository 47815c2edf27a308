// What peers send is decoded or refused, whatever it is; sanitizers look on.
#include "tests/hostile/decoding.h"

#include <gtest/gtest.h>

#include "tests/hostile/mutation.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace tarcil::hostile {
namespace {

constexpr size_t kMutations = 100'000;

// As libFuzzer would, so that what it finds can be added here.
void feed(size_t kind, const Bytes& message) {
  Bytes input{static_cast<uint8_t>(kind)};
  input.insert(input.end(), message.begin(), message.end());
  EXPECT_NO_THROW(LLVMFuzzerTestOneInput(input.data(), input.size())) << "kind " << kind;
}

TEST(Decoding, HasAnExampleOfEachKind) {
  EXPECT_EQ(examples().size(), kinds());
}

TEST(Decoding, TakesOrRefusesWhateverComes) {
  const std::vector<Bytes> valid = examples();
  Rng rng(1);
  for (size_t i = 0; i < kMutations; ++i) {
    const size_t kind = i % kinds();
    feed(kind, mutated(valid[kind], rng));
  }
}

TEST(Decoding, RefusesRandomBytes) {
  Rng rng(2);
  for (size_t i = 0; i < kMutations / 10; ++i) {
    Bytes random(rng.below(400));
    for (uint8_t& byte : random) byte = static_cast<uint8_t>(rng());
    feed(i % kinds(), random);
  }
}

}  // namespace
}  // namespace tarcil::hostile
