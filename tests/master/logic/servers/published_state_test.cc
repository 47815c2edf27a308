#include "master/logic/servers/published_state.h"

#include <gtest/gtest.h>

#include "core/base/rng.h"
#include "tests/support/builders.h"

namespace tarcil::published_state_test {

using Counts = PublishedState::Counts;

PublishedState published(std::vector<ServerUpdate> servers) {
  return PublishedState(std::move(servers), {}, {});
}

TEST(PublishedState, CountsUnitsByWhatTheyAreGoodFor) {
  const PublishedState state = published({aServer("a").rus(4).holding({}, 3).update(0),
                                          aServer("b").rus(8).holding({}, 2).cordoned().update(1),
                                          aServer("c").rus(16).down().update(2)});
  EXPECT_EQ(state.counts(),
            (Counts{.up = 1, .cordoned = 1, .down = 1, .freeUnits = 1, .heldUnits = 5, .idleUnits = 22}));
}

TEST(PublishedState, TakesAStateWithoutFactsForTheServerItHas) {
  PublishedState state = published({aServer("a").rus(4).update(0)});
  state.take({0, std::nullopt, aServer("a").rus(4).holding({}, 1).status()});
  EXPECT_EQ(state.server(0).facts->name, "a");
  EXPECT_EQ(state.counts().heldUnits, 1u);
}

// A unit that the server no longer has is free no more, and its task's.
TEST(PublishedState, CountsAServerThatShrank) {
  PublishedState state = published({aServer("a").rus(4).holding({}, 4).update(0)});
  ServerUpdate update = state.server(0);
  update.facts->rus = 2;
  state.take(update);
  EXPECT_EQ(state.counts(), (Counts{.up = 1, .heldUnits = 2}));
}

TEST(PublishedState, IsStepByStepWhatItIsFromScratch) {
  Rng rng(1);
  PublishedState state = published({});
  for (int step = 0; step < 2000; ++step) {
    const auto id = static_cast<ServerId>(rng.below(std::min<uint64_t>(state.servers() + 1, 20)));
    const auto rus = static_cast<uint32_t>(1 + rng.below(100));
    ServerBuilder server = aServer("s").rus(rus).holding({}, static_cast<uint32_t>(rng.below(rus + 1)));
    if (rng.below(4) == 0) server.down();
    if (rng.below(4) == 0) server.cordoned();
    state.take(server.update(id));
    if (rng.below(10) == 0) state.checksum();
  }
  std::vector<ServerUpdate> servers;
  for (ServerId id = 0; id < state.servers(); ++id) servers.push_back(state.server(id));
  PublishedState fromScratch = published(std::move(servers));
  EXPECT_EQ(state.counts(), fromScratch.counts());
  EXPECT_TRUE(state.checksum() == fromScratch.checksum());
}

TEST(PublishedState, TheChecksumOfFactsFollowsThemAlone) {
  PublishedState state = published({aServer("a").rus(4).update(0)});
  const StateChecksum before = state.checksum();
  ServerUpdate update = state.server(0);
  update.facts.reset();
  ++update.status.version;
  state.take(update);
  EXPECT_NE(state.checksum().statuses, before.statuses);
  EXPECT_EQ(state.checksum().facts, before.facts);
  update.facts = state.server(0).facts;
  update.facts->extras["gpus"] = 1;
  state.take(update);
  EXPECT_NE(state.checksum().facts, before.facts);
}

}  // namespace tarcil::published_state_test
