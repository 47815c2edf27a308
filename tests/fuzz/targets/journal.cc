// A batch of the journal of a store in etcd, as a master and a standby read it.
#include "master/store/etcd/journal.h"

#include "schema/store.capnp.h"
#include "tests/fuzz/message_mutation.h"
#include "tests/fuzz/mutation.h"

namespace tarcil::fuzz {
namespace {

constexpr uint64_t kTerm = 7;

void check(const Bytes& input) {
  const auto changes = decodeBatch(textOf(input));
  if (!changes) {
    require(!changes.error().message.empty(), "it is refused, and not said why");
    return;
  }
  const auto again = decodeBatch(encodeBatch(kTerm, *changes));
  require(again.ok() && *again == *changes, "a batch does not come back as it was written");
}

std::vector<Bytes> seeds() {
  using What = Change::What;
  return {inputOf(encodeBatch(kTerm, {})),
          inputOf(encodeBatch(kTerm, {{What::kPut, "ja", "bytes"}, {What::kErase, "jb"}})),
          inputOf(encodeBatch(kTerm, {{What::kEraseRange, "ta", "tb"}, {What::kPut, "ta1", ""}}))};
}

Bytes mutatedInput(const Bytes& input, Rng& rng) {
  try {
    return mutatedMessage(input, capnp::Schema::from<wire::JournalBatch>(), rng);
  } catch (const kj::Exception&) {
    return mutated(input, rng);
  }
}

}  // namespace

const Target kJournal = {"journal", check, seeds, mutatedInput};

}  // namespace tarcil::fuzz
