// Memory and disk that tasks claim beside their units.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/decide/chooser.h"
#include "tests/core/decide/deciding.h"
#include "tests/support/builders.h"

namespace tarcil::bytes_test {

using testing::Each;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr uint64_t kGiB = uint64_t{1} << 30;

JobSpec asking(uint32_t tasks, uint64_t memory, uint64_t disk = 0) {
  JobSpec spec = aJob(tasks);
  spec.limits.memoryBytes = memory;
  spec.limits.diskBytes = disk;
  return spec;
}

uint32_t dropped(const Decision& decision, Dropped reason) {
  return droppedFor(decision.explanation, reason);
}

TEST(Bytes, AreClaimedByEachTaskOfAServer) {
  const auto state = aCluster({aServer("a").rus(8).memory(10 * kGiB)});
  const Decision decision = decide(state, asking(8, 4 * kGiB));
  EXPECT_THAT(decision.claims, SizeIs(2)) << "units are free for eight";
  EXPECT_GT(dropped(decision, Dropped::kMemory), 0u);
}

TEST(Bytes, OfDiskAreClaimedAlike) {
  const auto state = aCluster({aServer("a").rus(8).disk(10 * kGiB)});
  const Decision decision = decide(state, asking(8, 0, 4 * kGiB));
  EXPECT_THAT(decision.claims, SizeIs(2));
}

TEST(Bytes, ThatAreTakenAreNamed) {
  const auto taken = [](const ServerBuilder& server, const JobSpec& spec) {
    const Decision decision = decide(aCluster({server}), spec);
    EXPECT_THAT(decision.claims, IsEmpty());
    return std::pair(dropped(decision, Dropped::kMemory), dropped(decision, Dropped::kDisk));
  };
  const ServerBuilder server = aServer("a").rus(4).memory(10 * kGiB).disk(10 * kGiB);
  // Enough for the power of two below, so that slots are drawn.
  EXPECT_EQ(taken(ServerBuilder(server).holding({}, 1, {}, {5 * kGiB, 0}), asking(1, 6 * kGiB)),
            std::pair(3u, 0u));
  EXPECT_EQ(taken(ServerBuilder(server).holding({}, 1, {}, {0, 5 * kGiB}), asking(1, 0, 6 * kGiB)),
            std::pair(0u, 3u));
}

TEST(Bytes, AreFoundWhereTheyAreHoweverFewServersHaveThem) {
  auto servers = idle(500);
  for (auto& server : servers) server.memory(4 * kGiB);
  servers[7].memory(100 * kGiB);
  servers[400].memory(100 * kGiB).holding({}, 1, {}, {90 * kGiB, 0});
  const auto state = aCluster(servers);
  EXPECT_THAT(places(state, decide(state, asking(2, 40 * kGiB))), UnorderedElementsAre("s7", "s7"));
}

// The set that the slots are drawn from has those that suffice for the next lower power of two.
TEST(Bytes, AreComparedExactly) {
  auto servers = idle(20);
  for (auto& server : servers) server.memory(5 * kGiB);
  servers[3].memory(7 * kGiB);
  const auto state = aCluster(servers);
  EXPECT_THAT(places(state, decide(state, asking(1, 7 * kGiB))), UnorderedElementsAre("s3"));
  EXPECT_THAT(decide(state, asking(1, 7 * kGiB + 1)).claims, IsEmpty());
}

TEST(Bytes, AreTheShareOfItsUnitsForATaskThatAsksForNone) {
  auto servers = idle(2);
  servers[0].memory(4 * kGiB).holding({}, 1, {},
                                      {3 * kGiB, 0});  // of three free units the memory of one is left
  servers[1].memory(4 * kGiB).holding({}, 1, {}, {4 * kGiB, 0});
  const auto state = aCluster(servers);
  EXPECT_EQ(state.freeUnits(), 1u);
  const Decision decision = decide(state, asking(3, 0));
  EXPECT_THAT(places(state, decision), UnorderedElementsAre("s0"));
  EXPECT_THAT(places(state, decide(state, asking(3, kGiB / 4))), SizeIs(3)) << "less than a share";
}

TEST(Bytes, AreWhatTheOperatorLetsTasksClaim) {
  ServerBuilder server = aServer("a").rus(8).memory(4 * kGiB);
  ServerUpdate update = server.update(0);
  update.facts->memoryOvercommit = 200;
  ClusterState state;
  state.apply(update);
  EXPECT_THAT(decide(state, asking(8, 4 * kGiB)).claims, SizeIs(2));
  EXPECT_THAT(decide(state, asking(8, 0)).claims, SizeIs(8));
}

TEST(Bytes, OfClaimsInFlightAreTaken) {
  auto state = aCluster({aServer("a").rus(8).memory(8 * kGiB)});
  const auto overlay = state.layOver(0, {0}, {}, {}, {{6 * kGiB, 0}, 1});
  EXPECT_THAT(decide(state, asking(1, 3 * kGiB)).claims, IsEmpty());
  EXPECT_THAT(decide(state, asking(8, 0)).claims, SizeIs(2)) << "a GiB with each";
  state.lift(overlay);
  EXPECT_THAT(decide(state, asking(1, 3 * kGiB)).claims, SizeIs(1));
}

TEST(Bytes, AreHeededByEveryPolicy) {
  const auto state = aCluster({aServer("a").rus(8).memory(10 * kGiB), aServer("b").rus(8).memory(2 * kGiB)});
  for (const Policy policy :
       {Policy::kQuality, Policy::kGreedy, Policy::kRandom, Policy::kPerTask, Policy::kBatch}) {
    EXPECT_THAT(places(state, decide(state, withPolicy(asking(2, 4 * kGiB), policy))), Each("a"))
        << nameOf(policy);
  }
}

}  // namespace tarcil::bytes_test
