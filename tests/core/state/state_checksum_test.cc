#include "core/state/state_checksum.h"

#include <gtest/gtest.h>

#include <set>

#include "core/base/rng.h"
#include "tests/support/builders.h"

namespace tarcil::state_checksum_test {

ServerStatus aStatus() {
  return aServer("a").rus(70).extra("gpus", 2).holding(causing({{Resource::kLlc, 30}}), 3).status();
}

TEST(StateChecksum, DiffersWithEverythingThatAStatusSays) {
  std::vector<ServerStatus> others(9, aStatus());
  ++others[0].version;
  others[1].up = false;
  others[2].cordoned = true;
  others[3].free.erase(69);
  --others[4].sum[9];
  --others[5].bound[0];
  ++others[6].background[5];
  others[7].freeExtras.at("gpus").erase(1);
  others[8].removed = true;
  std::set<uint64_t> sums{checksumOf(0, aStatus()), checksumOf(1, aStatus())};
  for (const ServerStatus& other : others) sums.insert(checksumOf(0, other));
  EXPECT_EQ(sums.size(), others.size() + 2);
}

ServerFacts someFacts() {
  ServerFacts facts = aServer("a").rus(70).extra("gpus", 2).update(0).facts.value();
  facts.attributes = {{"disk", "ssd"}};
  facts.missing = {"perf"};
  return facts;
}

TEST(StateChecksum, DiffersWithEverythingThatFactsSay) {
  std::vector<ServerFacts> others(13, someFacts());
  others[0].name = "b";
  others[1].platform += "x";
  others[2].rack += "x";
  others[3].address += "x";
  others[4].attributes["disk"] = "spinning";
  others[5].attributes["more"] = "";
  others[6].extras["gpus"] = 1;
  others[7].extras.clear();
  others[8].rus = 69;
  ++others[9].cores;
  ++others[10].memoryBytes;
  others[11].emulated = !others[11].emulated;
  others[12].missing.clear();
  std::set<uint64_t> sums{checksumOf(0, someFacts()), checksumOf(1, someFacts())};
  for (const ServerFacts& other : others) sums.insert(checksumOf(0, other));
  EXPECT_EQ(sums.size(), others.size() + 2);
}

TEST(StateChecksum, TellsTextsApartHoweverTheyAreCut) {
  ServerFacts one, other;
  one.name = "ab";
  one.platform = "c";
  other.name = "a";
  other.platform = "bc";
  EXPECT_NE(checksumOf(0, one), checksumOf(0, other));
  one.name = std::string("a\0", 2), one.platform = "bc";
  EXPECT_NE(checksumOf(0, one), checksumOf(0, other));
}

TEST(StateChecksum, IsTheSameForEqualSetsHoweverTheyAreHeld) {
  ServerStatus status = aStatus();
  ServerStatus other = status;
  RuSet::Words words = status.free.words();
  words.push_back(0);
  other.free = RuSet::fromWords(words);
  ASSERT_EQ(status, other);
  EXPECT_EQ(checksumOf(0, status), checksumOf(0, other));
}

TEST(StateChecksum, OfWhatAClusterStateHoldsIsThatOfWhatItTook) {
  Rng rng(1);
  ClusterState state;
  for (ServerId id = 0; id < 200; ++id) {
    const auto rus = static_cast<uint32_t>(1 + rng.below(200));
    ServerBuilder server = aServer("s" + std::to_string(id)).rus(rus);
    if (id % 3 == 0) server.extra("gpus", 4);
    if (id % 2 == 0) {
      server.holding(causing({{Resource::kLlc, 30}}), static_cast<uint32_t>(rng.below(rus + 1)));
    }
    state.apply(server.update(id));
    EXPECT_EQ(checksumOf(id, state.status(id)), checksumOf(id, server.status())) << id;
    EXPECT_EQ(checksumOf(id, state.facts(id)), checksumOf(id, *server.update(id).facts)) << id;
  }
}

// Others compute the same: a change of this number is a change of the protocol.
TEST(StateChecksum, IsFixed) {
  EXPECT_EQ(checksumOf(7, aStatus()), 9559102326782898863u);
  ServerFacts facts;
  facts.name = "a server";
  facts.extras = {{"gpus", 2}};
  EXPECT_EQ(checksumOf(7, facts), 11327217448888407622u);
  facts.diskBytes = 5;
  EXPECT_EQ(checksumOf(7, facts), 2065421241081885252u);
  ServerStatus status = aStatus();
  status.allocated = {1, 2};
  EXPECT_EQ(checksumOf(7, status), 15661202705089489737u);
}

}  // namespace tarcil::state_checksum_test
