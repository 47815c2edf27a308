#include "agent/logic/likely_servers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/agent/agent_harness.h"

namespace tarcil::likely_servers_test {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int kNoisy = 400;

std::string nameOf(const char* kind, int number) {
  return kind + std::to_string(number);
}

// Many servers with free units beside a loud task, and four quiet ones with one free unit each.
std::vector<ServerBuilder> crowd() {
  std::vector<ServerBuilder> servers;
  for (int i = 0; i < kNoisy; ++i) {
    servers.push_back(aServer(nameOf("noisy-", i)).holding(causingAndTolerating({{Resource::kLlc, 80}}, {})));
  }
  for (int i = 0; i < 4; ++i) servers.push_back(aServer(nameOf("quiet-", i)).holding({}, 3));
  return servers;
}

JobSpec sensitive() {
  return aJob(1, tolerating({{Resource::kLlc, 20}}));
}

// A sample of 32 of 1,204 slots has one of the four with a probability of a tenth.
TEST(LookingOn, FindsTheFewServersThatSuitAJobInACrowdOfOthers) {
  AgentHarness h(crowd());
  h.attach();
  for (int job = 1; job <= 4; ++job) {
    h.submitted(sensitive(), jobId(job));
    EXPECT_EQ(h.master.active(jobId(job)), 1u) << job;
  }
}

TEST(LookingOn, FindsNothingWhereNoBucketMatches) {
  std::vector<ServerBuilder> servers = crowd();
  servers.resize(kNoisy, aServer(""));
  AgentHarness h(servers);
  h.attach();
  h.submitted(sensitive(), jobId(1));
  EXPECT_EQ(h.master.active(jobId(1)), 0u);
}

// Bundles of servers as in crowd(), with an index of them.
struct LikelyServers : testing::Test {
  LikelyServers() {
    ServerId id = 0;
    for (const ServerBuilder& server : crowd()) state.apply(server.update(id++));
    likely.updateAll(state);
  }

  std::set<ServerId> draw(size_t atMost, uint64_t seed = 1) {
    Rng rng(seed);
    const auto servers = likely.draw(state, sensitive(), {}, atMost, rng);
    std::set<ServerId> distinct(servers.begin(), servers.end());
    EXPECT_EQ(distinct.size(), servers.size());
    return distinct;
  }

  ClusterState state;
  agent::LikelyServers likely;
};

TEST_F(LikelyServers, AreThoseOfMatchingBuckets) {
  EXPECT_THAT(draw(100), ElementsAre(kNoisy, kNoisy + 1, kNoisy + 2, kNoisy + 3));
}

TEST_F(LikelyServers, AreNotNamedWhereAcceptableSlotsAreCommonEnoughToBeDrawnAnywhere) {
  Rng rng(1);
  QualitySettings rarer;
  rarer.rarity = 0.003;  // 4 of 1,204 slots are acceptable
  EXPECT_THAT(likely.draw(state, sensitive(), rarer, 100, rng), IsEmpty());
}

TEST_F(LikelyServers, AreNoMoreThanAskedForAndDrawnByChance) {
  std::set<ServerId> drawn;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const auto one = draw(1, seed);
    ASSERT_THAT(one, SizeIs(1));
    drawn.insert(one.begin(), one.end());
  }
  EXPECT_THAT(drawn, SizeIs(4));
}

TEST_F(LikelyServers, FollowTheState) {
  for (ServerId id = kNoisy; id < kNoisy + 4; ++id) {
    ServerUpdate update = aServer(nameOf("quiet-", static_cast<int>(id) - kNoisy)).holding({}, 4).update(id);
    update.status.version = 2;
    state.apply(update);
    likely.update(state, id);
  }
  EXPECT_THAT(draw(100), IsEmpty()) << "none of them has a free unit any more";
}

}  // namespace tarcil::likely_servers_test
