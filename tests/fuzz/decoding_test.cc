// What peers send is decoded or refused, whatever it is; sanitizers look on.
#include "tests/fuzz/decoding.h"

#include <capnp/any.h>
#include <capnp/serialize.h>
#include <gtest/gtest.h>

#include <functional>

#include "core/base/units.h"
#include "schema/convert.h"
#include "tests/fuzz/message_mutation.h"
#include "tests/fuzz/mutation.h"

namespace tarcil::fuzz::decoding_test {

constexpr size_t kMutations = 100'000;

void feed(size_t kind, const Bytes& message) {
  EXPECT_NO_THROW(decode(kind, message.data(), message.size())) << nameOf(kind);
}

TEST(Decoding, TakesAnExampleOfEachKind) {
  const std::vector<Bytes> valid = examples();
  for (size_t kind = 0; kind < kinds(); ++kind) {
    EXPECT_GT(decode(kind, valid[kind].data(), valid[kind].size()), 0u) << nameOf(kind);
  }
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

// Whether a value of this kind, written as it is, can be read.
template <typename Wire>
bool isTaken(const std::string& name, const auto& value) {
  capnp::MallocMessageBuilder message;
  write(value, message.initRoot<Wire>());
  const Bytes bytes = inputOf(capnp::messageToFlatArray(message));
  for (size_t kind = 0; kind < kinds(); ++kind) {
    if (nameOf(kind) == name) return decode(kind, bytes.data(), bytes.size()) > 0;
  }
  return false;
}

bool isTaken(const ServerUpdate& update) {
  return isTaken<wire::ServerUpdate>("ServerUpdate", update);
}

TEST(Decoding, RefusesServersThatNoTableHasAPlaceFor) {
  EXPECT_TRUE(isTaken({kMaxServers - 1, std::nullopt, {}}));
  EXPECT_FALSE(isTaken({kMaxServers, std::nullopt, {}}));
}

TEST(Decoding, RefusesStatusesThatNoServerCanHave) {
  const auto with = [](int32_t sum, int32_t bound) {
    ServerUpdate update;
    update.status.sum[kResources - 1] = sum;
    update.status.bound[0] = bound;
    return update;
  };
  EXPECT_TRUE(isTaken(with(0, 0)));
  EXPECT_TRUE(isTaken(with(2 * kMaxServerCaused, kNoResident)));
  EXPECT_FALSE(isTaken(with(2 * kMaxServerCaused + 1, 0)));
  EXPECT_FALSE(isTaken(with(-1, 0)));
  EXPECT_FALSE(isTaken(with(0, kNoResident + 1)));
  EXPECT_FALSE(isTaken(with(0, -1)));
}

TEST(Decoding, RefusesFreeUnitsThatAServerHasNot) {
  const auto with = [](RuIndex free, uint32_t rus) {
    ServerUpdate update;
    update.status.free.insert(free);
    if (rus == 0) return update;
    update.facts.emplace();
    update.facts->name = "a";
    update.facts->rus = rus;
    return update;
  };
  EXPECT_TRUE(isTaken(with(kMaxServerRus - 1, 0)));
  EXPECT_FALSE(isTaken(with(kMaxServerRus, 0)));
  EXPECT_TRUE(isTaken(with(3, 4)));
  EXPECT_FALSE(isTaken(with(4, 4)));
  ServerUpdate extras;
  extras.status.freeExtras["gpu"].insert(kMaxExtra);
  EXPECT_FALSE(isTaken(extras));
}

TEST(Decoding, RefusesDurationsThatOverflowATime) {
  const auto with = [](Duration delay) {
    JobAssignment assignment;
    assignment.tasks.emplace_back().delay = delay;
    return assignment;
  };
  EXPECT_TRUE(isTaken<wire::JobAssignment>("JobAssignment", with(kFarthest)));
  EXPECT_FALSE(isTaken<wire::JobAssignment>("JobAssignment", with(kFarthest + Duration(1))));
  EXPECT_FALSE(isTaken<wire::JobAssignment>("JobAssignment", with(Duration(-1))));
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
    const auto words = wordsOf(example.data(), example.size());
    capnp::FlatArrayMessageReader reader(words);
    capnp::MallocMessageBuilder message;
    message.setRoot(reader.getRoot<capnp::AnyStruct>());
    withEmptyStructs(message.getRoot<capnp::AnyStruct>(), kMany, [&]() {
      const auto sent = capnp::messageToFlatArray(message);
      const auto bytes = sent.asBytes();
      EXPECT_LT(decode(kind, bytes.begin(), bytes.size()), 2 * example.size()) << nameOf(kind);
    });
  }
}

}  // namespace tarcil::fuzz::decoding_test
