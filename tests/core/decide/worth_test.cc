// Slots by what the job gets less what its neighbours lose, and the price of one.
#include <gtest/gtest.h>

#include "tests/core/decide/deciding.h"

namespace tarcil::worth_test {

QualitySettings byWorth(ContentionModel contention) {
  QualitySettings settings;
  settings.contention = contention;
  settings.ranking = RankBy::kWorth;
  settings.margin = 0;
  return settings;
}

Decision decideFor(double price, const std::vector<ServerBuilder>& servers, const Profile& profile,
                   ContentionModel contention = ContentionModel::kSlowdowns) {
  ClusterState state = aCluster(servers);
  state.setContention(contention);
  state.keepNeighbours(true);
  const JobSpec spec = aJob(1, profile);
  PlacementRequest request = placing(spec);
  request.price = price;
  return choose(state, request, byWorth(contention), 1);
}

const Profile kLoud = causing({{Resource::kLlc, 60}});

ServerBuilder sensitive(const std::string& name, int tolerated) {
  return aServer(name).holding(tolerating({{Resource::kLlc, tolerated}}));
}

TEST(Worth, WhatBreaksANeighbourIsTakenForItsPriceOnly) {
  // The neighbour loses 25 points by it: felt from 35 on.
  const std::vector<ServerBuilder> one = {sensitive("a", 40)};
  EXPECT_TRUE(decideFor(1, one, kLoud).claims.empty());
  EXPECT_TRUE(decideFor(0.76, one, kLoud).claims.empty());
  EXPECT_EQ(decideFor(0.74, one, kLoud).claims.size(), 1u);
}

TEST(Worth, OfSlotsThatAreWorthThePriceTheBestIsTaken) {
  const std::vector<ServerBuilder> servers = {sensitive("a", 20), sensitive("b", 50), sensitive("c", 30)};
  const Decision decision = decideFor(0.1, servers, kLoud);
  ASSERT_EQ(decision.claims.size(), 1u);
  EXPECT_EQ(decision.claims[0].server, 1u);
  EXPECT_NEAR(decision.bestWorth, 1 - 15 / 99.0, 0.01);
}

TEST(Worth, NoPriceBuysWhatBreaksANeighbourThatIsProtectedStrictly) {
  for (const ContentionModel contention : {ContentionModel::kSlowdowns, ContentionModel::kSum}) {
    ServerBuilder strict = aServer("a").holding(tolerating({{Resource::kLlc, 40}})).strictly();
    EXPECT_TRUE(decideFor(0, {strict}, kLoud, contention).claims.empty());
    // What it bears may be had.
    EXPECT_EQ(decideFor(0, {strict}, causing({{Resource::kLlc, 35}}), contention).claims.size(), 1u);
    EXPECT_EQ(decideFor(0, {strict, sensitive("b", 40)}, kLoud, contention).claims.at(0).server, 1u);
  }
}

TEST(Worth, NoPriceBuysWhatBringsANeighbourBelowTheFloor) {
  // It would keep 74 of 99.
  ClusterState state = aCluster({sensitive("a", 40)});
  state.setContention(ContentionModel::kSlowdowns);
  state.keepNeighbours(true);
  const JobSpec spec = aJob(1, kLoud);
  PlacementRequest request = placing(spec);
  request.price = 0;
  for (const double floor : {0.5, 0.74, 0.76, 1.0}) {
    QualitySettings settings = byWorth(ContentionModel::kSlowdowns);
    settings.neighbourFloor = floor;
    EXPECT_EQ(choose(state, request, settings, 1).claims.empty(), floor > 0.75) << floor;
  }
}

TEST(Worth, TheSumOfPressuresTellsItToo) {
  const std::vector<ServerBuilder> servers = {sensitive("a", 20), sensitive("b", 50)};
  EXPECT_TRUE(decideFor(0.95, servers, kLoud, ContentionModel::kSum).claims.empty());
  const Decision decision = decideFor(0.5, servers, kLoud, ContentionModel::kSum);
  ASSERT_EQ(decision.claims.size(), 1u);
  EXPECT_EQ(decision.claims[0].server, 1u);
  EXPECT_NEAR(decision.bestWorth, 1 - 10 / 99.0, 0.01);
}

TEST(Worth, AFreeServerBeatsOneWhoseNeighboursLose) {
  const Decision decision = decideFor(0.1, {sensitive("a", 30), aServer("b"), sensitive("c", 45)}, kLoud);
  ASSERT_EQ(decision.claims.size(), 1u);
  EXPECT_EQ(decision.claims[0].server, 1u);
  EXPECT_EQ(decision.bestWorth, 1);
}

TEST(Worth, SaysThePriceAndWhatNeighboursWouldLose) {
  ClusterState state = aCluster({sensitive("a", 20)});
  state.keepNeighbours(true);
  const JobSpec spec = aJob(1, kLoud);
  PlacementRequest request = placing(spec);
  request.price = 0.5;
  request.waitingJobs = 14;
  const Explanation said = choose(state, request, byWorth(ContentionModel::kSum), 1).explanation;
  EXPECT_EQ(said.price, 0.5);
  EXPECT_EQ(said.waitingJobs, 14u);
  ASSERT_EQ(said.best.size(), 1u);
  EXPECT_NEAR(said.best[0].cost, 40 / 99.0, 0.01);
  QualitySettings byQuality;
  byQuality.ranking = RankBy::kQuality;
  EXPECT_EQ(choose(state, request, byQuality, 1).explanation.price, 1) << "nothing has a price";
}

// A neighbour may be broken there for a price, but memory is short.
TEST(Worth, SaysThatMemoryIsShortWhereANeighbourWouldBeBrokenToo) {
  constexpr uint64_t kGiB = uint64_t{1} << 30;
  const Profile sensitive = tolerating({{Resource::kNetworkBandwidth, 40}});
  ClusterState state =
      aCluster({aServer("a").memory(8 * kGiB).holding(sensitive, 1, {}, {11 * kGiB / 2, 0})});
  state.keepNeighbours(true);
  JobSpec spec = aJob(1, causing({{Resource::kNetworkBandwidth, 60}}));
  spec.limits.memoryBytes = 3 * kGiB;
  PlacementRequest request = placing(spec);
  request.price = 0;
  const Explanation said = choose(state, request, byWorth(ContentionModel::kSum), 1).explanation;
  EXPECT_EQ(droppedFor(said, Dropped::kMemory), said.drawn);
  EXPECT_GT(said.drawn, 0u);
}

// Five servers in a hundred are empty; on the others the job loses a little, which is acceptable.
TEST(Worth, DrawsOnUntilNoSlotCanBeBetter) {
  std::vector<ServerBuilder> servers;
  for (int i = 0; i < 100; ++i) {
    const std::string name = "s" + std::to_string(i);
    servers.push_back(i < 5 ? aServer(name) : aServer(name).holding(causing({{Resource::kLlc, 23}})));
  }
  ClusterState state = aCluster(servers);
  state.keepNeighbours(true);
  const JobSpec spec = aJob(1, tolerating({{Resource::kLlc, 20}}));
  QualitySettings settings = byWorth(ContentionModel::kSum);
  int drawnByWorth = 0, drawnByQuality = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    settings.ranking = RankBy::kWorth;
    const Decision best = choose(state, placing(spec), settings, seed);
    ASSERT_EQ(best.claims.size(), 1u);
    EXPECT_LT(best.claims[0].server, 5u);
    drawnByWorth += static_cast<int>(best.explanation.drawn);
    settings.ranking = RankBy::kQuality;
    drawnByQuality += static_cast<int>(choose(state, placing(spec), settings, seed).explanation.drawn);
  }
  EXPECT_EQ(drawnByQuality, 20 * 8);
  EXPECT_GT(drawnByWorth, drawnByQuality);
  // On an empty cluster the first slots are as good as any.
  ClusterState empty = aCluster({aServer("a").rus(64)});
  empty.keepNeighbours(true);
  settings.ranking = RankBy::kWorth;
  EXPECT_EQ(choose(empty, placing(spec), settings, 1).explanation.drawn, 8u);
}

}  // namespace tarcil::worth_test
