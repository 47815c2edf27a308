// What peers and the store's files say, as values: the first byte chooses the kind (decoding.h).
#include <kj/exception.h>

#include "tests/fuzz/decoding.h"
#include "tests/fuzz/message_mutation.h"
#include "tests/fuzz/mutation.h"

namespace tarcil::fuzz {
namespace {

size_t kindOf(const Bytes& input) {
  return input.front() % kinds();
}

void check(const Bytes& input) {
  if (!input.empty()) decode(kindOf(input), input.data() + 1, input.size() - 1);
}

Bytes withKind(uint8_t kind, const Bytes& message) {
  Bytes input{kind};
  input.insert(input.end(), message.begin(), message.end());
  return input;
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> all = examples();
  for (size_t kind = 0; kind < all.size(); ++kind)
    all[kind] = withKind(static_cast<uint8_t>(kind), all[kind]);
  return all;
}

Bytes mutatedInput(const Bytes& input, Rng& rng) {
  if (input.empty()) return seeds()[rng.below(kinds())];
  const Bytes message(input.begin() + 1, input.end());
  try {
    return withKind(input.front(), mutatedMessage(message, schemaOf(kindOf(input)), rng));
  } catch (const kj::Exception&) {
    return withKind(input.front(), mutated(message, rng));
  }
}

}  // namespace

const Target kMessages = {"messages", check, seeds, mutatedInput};

}  // namespace tarcil::fuzz
