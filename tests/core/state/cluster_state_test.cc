#include "core/state/cluster_state.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "tests/core/model/generators.h"
#include "tests/support/builders.h"

namespace tarcil::cluster_state_test {

constexpr Resource kLlc = Resource::kLlc;

ServerUpdate withoutFacts(ServerUpdate update, uint64_t version) {
  update.facts.reset();
  update.status.version = version;
  return update;
}

TEST(ClusterState, TakesOnlyNewerStates) {
  auto state = aCluster({aServer("a")});
  state.apply(withoutFacts(aServer("a").holding({}).update(0), 3));
  EXPECT_EQ(state.freeUnits(0), 3u);
  state.apply(withoutFacts(aServer("a").holding({}, 4).update(0), 3));
  state.apply(withoutFacts(aServer("a").holding({}, 4).update(0), 2));
  EXPECT_EQ(state.freeUnits(0), 3u);
}

TEST(ClusterState, TakesFactsEvenWithAnOldState) {
  auto state = aCluster({aServer("a").platform("old")});
  state.apply(withoutFacts(aServer("a").holding({}).update(0), 9));
  state.apply(aServer("b").platform("new").update(0));
  EXPECT_EQ(state.find("a"), std::nullopt);
  EXPECT_EQ(state.find("b"), ServerId{0});
  EXPECT_EQ(state.platforms(), (std::map<std::string, uint32_t>{{"new", 1}}));
  EXPECT_EQ(state.status(0).version, 9u);
}

TEST(ClusterState, AServerThatWasRemovedIsInNoSetUntilItIsBack) {
  auto state = aCluster({aServer("a").rack("r"), aServer("b").rack("r")});
  const ServerNeeds inRack{{{"rack", Constraint::Operator::kEqual, {"r"}}}, {}};
  const Constraint byName{"server", Constraint::Operator::kIn, {"a", "b"}};
  EXPECT_EQ(state.meeting(inRack).servers(), 2u);
  state.apply(withoutFacts(aServer("a").removed().update(0), 2));
  EXPECT_TRUE(state.known(0));
  EXPECT_FALSE(state.all().contains(0));
  EXPECT_EQ(state.meeting(inRack).servers(), 1u);
  EXPECT_EQ(state.listedBy(byName), std::vector<ServerId>{1});
  EXPECT_EQ(state.platforms(), (std::map<std::string, uint32_t>{{"reference", 1}}));
  EXPECT_EQ(state.freeUnits(), 4u);
  state.apply(aServer("a").rack("s").removed().update(0));
  EXPECT_FALSE(state.all().contains(0)) << "facts alone do not bring it back";
  const auto overlay = state.layOver(0, {0}, {});
  state.lift(overlay);
  EXPECT_EQ(state.freeUnits(), 4u);
  state.apply(withoutFacts(aServer("a").update(0), 3));
  EXPECT_EQ(state.all().servers(), 2u);
  EXPECT_EQ(state.meeting(inRack).servers(), 1u) << "it is in another rack now";
  EXPECT_EQ(state.listedBy(byName), (std::vector<ServerId>{0, 1}));
  EXPECT_EQ(state.freeUnits(), 8u);
}

TEST(ClusterState, IgnoresAnUnknownServerWithoutFacts) {
  ClusterState state;
  state.apply(withoutFacts(aServer("a").update(5), 3));
  EXPECT_FALSE(state.known(5));
  EXPECT_EQ(state.size(), 0u);
}

TEST(ClusterState, GapsInTheNumbersAreUnknown) {
  ClusterState state;
  state.apply(aServer("c").update(2));
  EXPECT_FALSE(state.known(0));
  EXPECT_TRUE(state.known(2));
  EXPECT_EQ(state.freeUnits(), 4u);
}

TEST(ClusterState, KeepsAClaimLaidOverThroughLaterStates) {
  auto state = aCluster({aServer("a")});
  const auto overlay = state.layOver(0, {0, 1}, causing({{kLlc, 60}}));
  state.apply(withoutFacts(aServer("a").holding(causing({{kLlc, 10}})).update(0), 2));
  EXPECT_EQ(state.status(0).sum[static_cast<size_t>(kLlc)], 70);
  EXPECT_EQ(state.freeUnits(0), 2u);
  state.lift(overlay);
  EXPECT_EQ(state.status(0).sum[static_cast<size_t>(kLlc)], 10);
  EXPECT_EQ(state.freeUnits(0), 3u);
}

TEST(ClusterState, ALaidOverClaimBoundsWhatMayComeBesideIt) {
  auto state = aCluster({aServer("a")});
  state.layOver(0, {0}, causingAndTolerating({{kLlc, 20}}, {{kLlc, 30}}));
  EXPECT_EQ(state.status(0).bound[static_cast<size_t>(kLlc)], 50);
}

TEST(ClusterState, DrawsNothingFromServersThatTakeNothing) {
  auto state = aCluster({aServer("a").down(), aServer("b").cordoned(), aServer("c").holding({}, 4)});
  Rng rng(1);
  EXPECT_TRUE(FreeIndex::Draws(state.all().free()).empty());
  EXPECT_EQ(state.freeUnits(), 0u);
}

TEST(ClusterState, DrawsEveryFreeUnitEquallyOften) {
  auto state = aCluster({aServer("a").rus(1), aServer("b").rus(8).holding({}, 4), aServer("c").rus(11)});
  const std::vector<double> units = {1, 4, 11};
  std::vector<double> drawn(3);
  Rng rng(20);
  constexpr int kDraws = 16'000;
  for (int i = 0; i < kDraws; ++i) ++drawn[FreeIndex::Draws(state.all().free()).next(rng).server];
  double chiSquare = 0;
  for (size_t s = 0; s < units.size(); ++s) {
    const double expected = kDraws * units[s] / 16;
    chiSquare += (drawn[s] - expected) * (drawn[s] - expected) / expected;
  }
  EXPECT_LT(chiSquare, 13.8);  // two degrees of freedom, exceeded by chance once in a thousand seeds
}

// What the state must look like, kept the slow way.
struct Reference {
  struct Laid {
    ServerId server;
    std::vector<RuIndex> rus;
    Profile profile;
  };
  std::map<ServerId, ServerUpdate> servers;
  std::map<ClusterState::OverlayId, Laid> overlays;
  Share share = fullShare();

  ServerStatus effective(ServerId id) const {
    ServerStatus status = servers.at(id).status;
    for (const auto& [overlay, laid] : overlays) {
      if (laid.server != id) continue;
      layOn(status, laid.rus, laid.profile.caused, laid.profile.tolerated, share);
    }
    return status;
  }
};

ServerUpdate anUpdate(ServerId id) {
  auto server =
      aServer("s" + std::to_string(id)).rus(8).holding(*aProfile(), *rc::gen::inRange<uint32_t>(0, 8));
  if (*rc::gen::inRange(0, 4) == 0) server.down();
  if (*rc::gen::inRange(0, 4) == 0) server.cordoned();
  ServerUpdate update = server.update(id);
  update.status.version = *rc::gen::inRange<uint64_t>(1, 20);
  return update;
}

void step(ClusterState& state, Reference& reference) {
  const auto id = *rc::gen::inRange<ServerId>(0, 4);
  switch (*rc::gen::inRange(0, 4)) {
    case 0: {
      ServerUpdate update = anUpdate(id);
      if (*rc::gen::arbitrary<bool>()) update.facts.reset();
      state.apply(update);
      const auto it = reference.servers.find(id);
      if (it != reference.servers.end() && update.status.version <= it->second.status.version) return;
      if (it != reference.servers.end() || update.facts) reference.servers[id] = update;
      return;
    }
    case 1: {
      if (!state.known(id)) return;
      const Reference::Laid laid{id, {*rc::gen::inRange<RuIndex>(0, 8)}, *aProfile()};
      reference.overlays[state.layOver(id, laid.rus, laid.profile)] = laid;
      return;
    }
    case 2: {
      const auto overlay = *rc::gen::inRange<ClusterState::OverlayId>(1, 20);
      state.lift(overlay);
      reference.overlays.erase(overlay);
      return;
    }
    default:
      reference.share = *aShare();
      state.setShare("reference", reference.share);
  }
}

RC_GTEST_PROP(ClusterState, EqualsBaseAndOverlaysFromScratchAfterAnyHistory, ()) {
  ClusterState state;
  Reference reference;
  for (int steps = *rc::gen::inRange(0, 60); steps > 0; --steps) step(state, reference);

  uint64_t drawable = 0;
  for (const auto& [id, update] : reference.servers) {
    const ServerStatus expected = reference.effective(id);
    RC_ASSERT(state.status(id) == expected);
    RC_ASSERT(state.freeUnits(id) == expected.free.size());
    if (expected.up && !expected.cordoned) drawable += expected.free.size();
  }
  RC_ASSERT(state.freeUnits() == drawable);
  Rng rng(7);
  for (uint64_t i = 0; i < 4 * drawable; ++i) {
    const ServerStatus drawn = state.status(FreeIndex::Draws(state.all().free()).next(rng).server);
    RC_ASSERT(drawn.up && !drawn.cordoned && drawn.free.size() > 0);
  }
}

}  // namespace tarcil::cluster_state_test
