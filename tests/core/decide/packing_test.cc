// Slots judged together with those beside them, alone and with spreading.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "core/decide/chooser.h"
#include "tests/core/decide/deciding.h"
#include "tests/support/builders.h"

namespace tarcil::packing_test {

using testing::Each;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr Resource kLlc = Resource::kLlc;

// Racks of servers, "r0-s0" and so on.
std::vector<ServerBuilder> inRacks(int racks, int perRack, uint32_t rus) {
  std::vector<ServerBuilder> servers;
  for (int rack = 0; rack < racks; ++rack) {
    const std::string name = "r" + std::to_string(rack);
    for (int i = 0; i < perRack; ++i) {
      servers.push_back(aServer(name + "-s" + std::to_string(i)).rack(name).rus(rus));
    }
  }
  return servers;
}

std::set<std::string> racksOf(const ClusterState& state, const Decision& decision) {
  std::set<std::string> racks;
  for (const Claim& claim : decision.claims) racks.insert(state.rackName(state.vacancy(claim.server).rack));
  return racks;
}

TEST(Packing, PutsAJobOntoOneServer) {
  auto state = aCluster(idle(50));
  JobSpec spec = aJob(4);
  spec.placement.pack = Domain::kServer;
  const Decision decision = decide(state, spec);
  EXPECT_EQ(decision.claims.size(), 4u);
  EXPECT_THAT(serversOf(state, decision), SizeIs(1));
}

TEST(Packing, TakesAsFewServersAsItCan) {
  auto state = aCluster(idle(50));
  JobSpec spec = aJob(10);
  spec.placement.pack = Domain::kServer;
  const Decision decision = decide(state, spec);
  EXPECT_EQ(decision.claims.size(), 10u);
  EXPECT_THAT(serversOf(state, decision), SizeIs(3));
}

TEST(Packing, JudgesAServerByWhatTheWholeJobFeelsThere) {
  // Alone a task fits the noisier server more tightly; together they fit only the quiet one.
  auto state = aCluster({aServer("noisier").background({{kLlc, 40}}), aServer("quiet")});
  JobSpec spec = aJob(3, causingAndTolerating({{kLlc, 20}}, {{kLlc, 50}}));
  spec.placement.pack = Domain::kServer;
  EXPECT_THAT(places(state, decide(state, spec)), Each("quiet"));
}

TEST(Packing, PutsAJobIntoOneRack) {
  auto state = aCluster(inRacks(20, 6, 1));
  JobSpec spec = aJob(6);
  spec.placement.pack = Domain::kRack;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Decision decision = decide(state, spec, seed);
    EXPECT_EQ(decision.claims.size(), 6u);
    EXPECT_THAT(racksOf(state, decision), SizeIs(1));
  }
}

TEST(Packing, PutsAJobIntoOneDomainOfAnyAttribute) {
  auto servers = idle(40, 1);
  for (size_t i = 0; i < servers.size(); ++i) servers[i].attribute("switch", "w" + std::to_string(i % 4));
  auto state = aCluster(servers);
  JobSpec spec = withPolicy(aJob(8), Policy::kGreedy);
  spec.placement.pack = "switch";
  const Decision decision = decide(state, spec);
  ASSERT_EQ(decision.claims.size(), 8u);
  std::set<std::string_view> switches;
  for (const Claim& claim : decision.claims) switches.insert(*state.attribute(claim.server, "switch"));
  EXPECT_EQ(switches.size(), 1u);
}

TEST(Packing, IntoARackSpreadsOverItsServers) {
  auto state = aCluster(inRacks(10, 5, 4));
  // Each task makes its server the tighter fit for the next.
  JobSpec spec = aJob(5, causing({{kLlc, 10}}));
  spec.placement.pack = Domain::kRack;
  spec.placement.spread = Domain::kServer;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Decision decision = decide(state, spec, seed);
    EXPECT_EQ(decision.claims.size(), 5u);
    EXPECT_THAT(serversOf(state, decision), SizeIs(5));
    EXPECT_THAT(racksOf(state, decision), SizeIs(1));
  }
}

TEST(Packing, OntoServersSpreadsOverRacks) {
  auto state = aCluster(inRacks(4, 3, 4));
  JobSpec spec = aJob(8);
  spec.placement.pack = Domain::kServer;
  spec.placement.spread = Domain::kRack;
  spec.placement.atMost = 2;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Decision decision = decide(state, spec, seed);
    EXPECT_EQ(decision.claims.size(), 8u);
    EXPECT_THAT(serversOf(state, decision), SizeIs(4));
    EXPECT_THAT(racksOf(state, decision), SizeIs(4));
  }
}

TEST(Packing, FillsARackOfManyServers) {
  auto state = aCluster(inRacks(1, 100, 2));
  JobSpec spec = aJob(90, causing({{kLlc, 60}}));  // one on each server
  spec.placement.pack = Domain::kRack;
  spec.schedule = Schedule::kGang;
  EXPECT_EQ(decide(state, spec).claims.size(), 90u);
}

TEST(Packing, WorksGreedilyToo) {
  auto servers = inRacks(30, 4, 1);
  for (size_t i = 0; i < servers.size(); ++i) {
    if (i / 4 != 11) servers[i].background({{kLlc, 60}});
  }
  auto state = aCluster(servers);
  JobSpec spec = withPolicy(aJob(4, tolerating({{kLlc, 0}})), Policy::kGreedy);
  spec.placement.pack = Domain::kRack;
  EXPECT_THAT(places(state, decide(state, spec)),
              UnorderedElementsAre("r11-s0", "r11-s1", "r11-s2", "r11-s3"));
}

}  // namespace tarcil::packing_test
