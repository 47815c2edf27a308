// What peers send is decoded or refused, whatever it is; sanitizers look on.
#include "tests/hostile/decoding.h"

#include <capnp/any.h>
#include <capnp/serialize.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/hostile/mutation.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace tarcil::hostile::decoding_test {

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

// --- Small messages that pretend to be large ---------------------------------------------------------------

// Puts a list of so many structs that take no bytes in the place of each pointer, one at a time: those of the
// root, and of the structs in it.
void withEmptyStructs(capnp::AnyStruct::Builder at, uint32_t count, const std::function<void()>& look) {
  for (capnp::AnyPointer::Builder pointer : at.getPointerSection()) {
    if (pointer.isStruct()) withEmptyStructs(pointer.getAs<capnp::AnyStruct>(), count, look);
    auto kept = pointer.disown();
    pointer.initAsListOfAnyStruct(0, 0, count);
    look();
    pointer.adopt(kj::mv(kept));
  }
}

TEST(Decoding, RefusesListsThatTakeMoreMemoryThanTheyTookToSend) {
  constexpr uint32_t kMany = 100'000;
  for (size_t kind = 0; kind < kinds(); ++kind) {
    const Bytes example = examples()[kind];
    auto words = kj::heapArray<capnp::word>(example.size() / sizeof(capnp::word));
    std::copy(example.begin(), example.end(), words.asBytes().begin());
    capnp::FlatArrayMessageReader reader(words);
    capnp::MallocMessageBuilder message;
    message.setRoot(reader.getRoot<capnp::AnyStruct>());
    withEmptyStructs(message.getRoot<capnp::AnyStruct>(), kMany, [&]() {
      const auto sent = capnp::messageToFlatArray(message);
      const auto bytes = sent.asBytes();
      EXPECT_LT(decode(kind, bytes.begin(), bytes.size()), 2 * example.size()) << "kind " << kind;
    });
  }
}

}  // namespace tarcil::hostile::decoding_test
