// Servers that single tasks require.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>

#include "core/decide/chooser.h"
#include "core/model/constraint.h"
#include "tests/core/decide/deciding.h"
#include "tests/support/builders.h"

namespace tarcil::requirements_test {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr Resource kLlc = Resource::kLlc;

std::map<TaskIndex, std::string> placesOf(const ClusterState& state, const Decision& decision) {
  std::map<TaskIndex, std::string> at;
  for (const Claim& claim : decision.claims) at[claim.task] = state.name(claim.server);
  return at;
}

std::vector<Constraint> met(const char* condition) {
  return {*parseConstraint(condition)};
}

JobSpec aGang(uint32_t tasks, const Profile& profile = {}) {
  JobSpec spec = aJob(tasks, profile);
  spec.schedule = Schedule::kGang;
  return spec;
}

TEST(Requirements, AreMetAmongManyServers) {
  auto servers = idle(500);
  servers[123].attribute("disk", "ssd");
  servers[321].rack("r9");
  auto state = aCluster(servers);
  JobSpec spec = aJob(4);
  spec.placement.requireOfTask = {{0, {onServers({"s400"})}}, {1, met("disk = ssd")}, {2, met("rack = r9")}};
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Decision decision = decide(state, spec, seed);
    const auto at = placesOf(state, decision);
    EXPECT_EQ(at.size(), 4u);
    EXPECT_THAT(at, Contains(Pair(0, "s400")));
    EXPECT_THAT(at, Contains(Pair(1, "s123")));
    EXPECT_THAT(at, Contains(Pair(2, "s321")));
    EXPECT_EQ(decision.unmet, 0u);
  }
}

TEST(Requirements, KeepATaskWaitingAndNoOther) {
  auto servers = idle(40, 1);
  servers[7].down();
  auto state = aCluster(servers);
  JobSpec spec = aJob(4);
  spec.placement.requireOfTask = {{1, {onServers({"s7"})}}, {2, {onServers({"s7", "unheard-of"})}}};
  for (const Standard standard : {Standard::kAcceptable, Standard::kBestThereIs}) {
    const Decision decision = decide(state, spec, 1, standard);
    EXPECT_EQ(decision.claims.size(), 2u);
    EXPECT_EQ(decision.claims[0].task, 0u);
    EXPECT_EQ(decision.claims[1].task, 3u);
    EXPECT_EQ(decision.unmet, 2u);
    EXPECT_EQ(decision.firstUnmet, 1u);
    EXPECT_FALSE(decision.explanation.enoughFound);
  }
}

TEST(Requirements, KeepAWholeGangWaiting) {
  auto servers = idle(40, 1);
  servers[7].down();
  auto state = aCluster(servers);
  JobSpec spec = aGang(3);
  spec.placement.requireOfTask = {{2, {onServers({"s7"})}}};
  const Decision decision = decide(state, spec);
  EXPECT_THAT(decision.claims, IsEmpty());
  EXPECT_EQ(decision.firstUnmet, 2u);
  spec.placement.requireOfTask = {{2, {onServers({"s8"})}}};
  EXPECT_THAT(placesOf(state, decide(state, spec)), Contains(Pair(2, "s8")));
}

TEST(Requirements, LeaveTheBestSlotThereIsToTheTaskAndTakeNoMoreThanThereAre) {
  auto state =
      aCluster({aServer("a").rus(1).background({{kLlc, 30}}), aServer("b").rus(2), aServer("c").rus(8)});
  JobSpec spec = aJob(5, tolerating({{kLlc, 20}}));
  for (TaskIndex task = 0; task < 4; ++task) {
    spec.placement.requireOfTask[task] = {onServers({"a", "b", "b"})};
  }
  const Decision decision = decide(state, spec);
  EXPECT_THAT(placesOf(state, decision), ElementsAre(Pair(0, "b"), Pair(1, "b"), Pair(4, "c")));
  EXPECT_EQ(decision.unmet, 2u);
  EXPECT_EQ(decision.firstUnmet, 2u);
}

TEST(Requirements, GoBeforePreferences) {
  auto state = aCluster(idle(100));
  JobSpec spec = aJob(3);
  spec.placement.requireOfTask = {{0, {onServers({"s1", "s2"})}}, {1, {onServers({"s1", "s2"})}}};
  spec.placement.preferOfTask = {{0, {"s50", "s2"}}, {1, {"s50", "s1"}}, {2, {"s50"}}};
  EXPECT_THAT(placesOf(state, decide(state, spec)),
              ElementsAre(Pair(0, "s2"), Pair(1, "s1"), Pair(2, "s50")));
}

TEST(Requirements, AreJudgedByTheBestOfTheServersThatMeetThem) {
  // On the platform of all that it may use, it is as good as it gets.
  auto state = aCluster({aServer("fast").platform("fast"), aServer("slow").platform("slow")});
  JobSpec spec = aJob(2);
  spec.profile.platforms = {{"fast", 1}, {"slow", 0.5}};
  spec.placement.requireOfTask = {{0, {onServers({"slow"})}}};
  EXPECT_THAT(placesOf(state, decide(state, spec)), ElementsAre(Pair(0, "slow"), Pair(1, "fast")));
  spec.placement.requireOfTask = {{0, {onServers({"slow"})}}, {1, {onServers({"slow", "fast"})}}};
  EXPECT_THAT(placesOf(state, decide(state, spec)), ElementsAre(Pair(0, "slow"), Pair(1, "fast")));
}

TEST(Requirements, AreMetWhateverThePolicy) {
  auto servers = idle(100);
  servers[17].attribute("disk", "ssd");
  auto state = aCluster(servers);
  JobSpec spec = aJob(6);
  spec.placement.requireOfTask = {{1, {onServers({"s3"})}}, {2, met("disk = ssd")}};
  for (const Policy policy :
       {Policy::kQuality, Policy::kGreedy, Policy::kRandom, Policy::kPerTask, Policy::kBatch}) {
    spec.policy = policy;
    const auto at = placesOf(state, decide(state, spec));
    EXPECT_EQ(at.size(), 6u);
    EXPECT_THAT(at, Contains(Pair(1, "s3")));
    EXPECT_THAT(at, Contains(Pair(2, "s17")));
  }
}

TEST(Requirements, OfMoreTasksThanMayBePlacedAtOnceTakeTheirTurn) {
  auto state = aCluster(idle(10, 1));
  JobSpec spec = aJob(6);
  for (TaskIndex task = 0; task < 4; ++task) {
    spec.placement.requireOfTask[task] = {onServers({"s" + std::to_string(task)})};
  }
  PlacementRequest request{.spec = spec, .tasks = {}, .placedOn = {}};
  request.atMost = 3;
  for (TaskIndex task = 0; task < 6; ++task) request.tasks.push_back({task, 1});
  EXPECT_EQ(choose(state, request, byQuality(), 1).claims.size(), 3u);
  for (TaskIndex task = 0; task < 6; ++task) spec.placement.preferOfTask[task] = {"s" + std::to_string(task)};
  EXPECT_EQ(choose(state, request, byQuality(), 1).claims.size(), 3u);
}

TEST(Requirements, OfAGangGiveEachTaskItsServerWhereverTheyOverlap) {
  auto state = aCluster({aServer("a").rus(1), aServer("b").rus(1), aServer("c").rus(1)});
  JobSpec spec = aGang(3);
  spec.placement.requireOfTask = {
      {0, {onServers({"a", "b", "c"})}}, {1, {onServers({"b", "c"})}}, {2, {onServers({"c"})}}};
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Decision decision = decide(state, spec, seed);
    EXPECT_THAT(placesOf(state, decision), ElementsAre(Pair(0, "a"), Pair(1, "b"), Pair(2, "c")));
    EXPECT_EQ(decision.unmet, 0u);
    EXPECT_TRUE(decision.explanation.enoughFound);
  }
}

TEST(Requirements, OfAGangLeaveTheRestToTasksThatRequireNothing) {
  auto state = aCluster({aServer("a").rus(1), aServer("b").rus(1), aServer("c").rus(1)});
  JobSpec spec = aGang(3);
  spec.placement.requireOfTask = {{1, {onServers({"a", "b"})}}, {2, met("server != b")}};
  spec.placement.constraints = met("server != c");
  EXPECT_THAT(decide(state, spec).claims, IsEmpty()) << "three tasks on two servers";
  spec.placement.constraints.clear();
  spec.placement.requireOfTask[2] = met("server = a");
  spec.placement.preferOfTask = {{1, {"a"}}};
  EXPECT_THAT(placesOf(state, decide(state, spec)), ElementsAre(Pair(0, "c"), Pair(1, "b"), Pair(2, "a")));
}

TEST(Requirements, OfAGangHeedItsSpread) {
  auto state = aCluster({aServer("a").rack("r1"), aServer("b").rack("r1"), aServer("c").rack("r2")});
  JobSpec spec = aGang(2);
  spec.placement.spread = Domain::kRack;
  spec.placement.requireOfTask = {{0, {onServers({"a", "c"})}}, {1, {onServers({"b"})}}};
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_THAT(placesOf(state, decide(state, spec, seed)), ElementsAre(Pair(0, "c"), Pair(1, "b")));
  }
  spec.placement.requireOfTask[0] = {onServers({"a"})};
  EXPECT_THAT(decide(state, spec).claims, IsEmpty());
}

TEST(Requirements, OfAGangHeedExtras) {
  auto state = aCluster({aServer("a").extra("gpus", 1), aServer("b").extra("gpus", 1), aServer("c")});
  JobSpec spec = aGang(2);
  spec.extras = {{"gpus", 1}};
  spec.placement.requireOfTask = {{0, {onServers({"a", "b", "c"})}}, {1, {onServers({"b"})}}};
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_THAT(placesOf(state, decide(state, spec, seed)), ElementsAre(Pair(0, "a"), Pair(1, "b")));
  }
}

// What is near the best of the servers that a task may go to is good enough for it, whatever others require.
TEST(Requirements, OfAGangAreJudgedByThemselves) {
  auto state = aCluster({aServer("fast").platform("fast").rus(1), aServer("slow").platform("slow").rus(1)});
  JobSpec spec = aGang(2);
  spec.profile.platforms = {{"fast", 1}, {"slow", 0.5}};
  spec.placement.requireOfTask = {{0, {onServers({"fast", "slow"})}}, {1, {onServers({"fast"})}}};
  EXPECT_THAT(decide(state, spec).claims, IsEmpty()) << "the first is not to be slowed down";
  EXPECT_THAT(placesOf(state, decide(state, spec, 1, Standard::kBestThereIs)),
              ElementsAre(Pair(0, "slow"), Pair(1, "fast")));
}

// What is left once a task is there is good enough for those that may go nowhere else, so that they come
// last.
TEST(Requirements, OfAGangFillAServerWithThoseFirstThatNeedTheBestOfIt) {
  auto state = aCluster({aServer("a").platform("slow"), aServer("b").platform("fast").down()});
  JobSpec spec = aGang(2, causingAndTolerating({{kLlc, 14}}, {{kLlc, 20}}));
  spec.profile.platforms = {{"fast", 1}, {"slow", 0.97}};
  spec.placement.requireOfTask = {{0, {onServers({"a"})}}, {1, {onServers({"a", "b"})}}};
  const Decision decision = decide(state, spec);
  ASSERT_EQ(decision.claims.size(), 2u);
  EXPECT_EQ(decision.claims[0].task, 1u);
  EXPECT_EQ(decision.claims[0].s, 1);
  EXPECT_LT(decision.claims[1].s, 1);
}

TEST(Requirements, OfAGangNameAGroupThatFindsNoSlotBesideTheOthers) {
  auto state = aCluster({aServer("a").rus(1), aServer("b").rus(1).down(), aServer("c").rus(4)});
  JobSpec spec = aGang(4);
  spec.placement.requireOfTask = {
      {1, {onServers({"a", "b"})}}, {2, {onServers({"c"})}}, {3, {onServers({"a"})}}};
  const Decision decision = decide(state, spec);
  EXPECT_THAT(decision.claims, IsEmpty());
  EXPECT_EQ(decision.unmet, 1u);
  EXPECT_THAT(decision.firstUnmet, testing::AnyOf(1u, 3u));
}

// Servers are filled with tasks, which then may go to others, too: all of them find a place again.
RC_GTEST_PROP(RequirementsOfAGang, AreMetWhereverThatIsPossible, ()) {
  constexpr uint32_t kServers = 5;
  std::vector<ServerBuilder> servers;
  std::vector<uint32_t> on;
  for (uint32_t server = 0; server < kServers; ++server) {
    const uint32_t rus = *rc::gen::inRange(1u, 5u);
    servers.push_back(aServer("s" + std::to_string(server)).rus(rus).rack("r" + std::to_string(server / 2)));
    on.insert(on.end(), *rc::gen::inRange(server == 0 ? 1u : 0u, rus + 1), server);
  }
  const auto state = aCluster(servers);
  JobSpec spec = aGang(static_cast<uint32_t>(on.size()));
  spec.policy = *rc::gen::element(Policy::kQuality, Policy::kGreedy);
  for (TaskIndex task = 0; task < on.size(); ++task) {
    if (*rc::gen::inRange(0, 5) == 0) continue;
    std::vector<std::string> names{"s" + std::to_string(on[task])};
    for (uint32_t others = *rc::gen::inRange(0u, 3u); others > 0; --others) {
      names.push_back("s" + std::to_string(*rc::gen::inRange(0u, kServers)));
    }
    spec.placement.requireOfTask[task] = {onServers(names)};
  }
  const bool isSpread = *rc::gen::arbitrary<bool>();
  if (isSpread) {
    spec.placement.spread = Domain::kRack;
    std::map<uint32_t, uint32_t> inRack;
    for (uint32_t server : on) spec.placement.atMost = std::max(spec.placement.atMost, ++inRack[server / 2]);
  }
  RC_ASSERT(everFeasible(state, spec).ok());
  RC_ASSERT(decide(state, spec, *rc::gen::arbitrary<uint64_t>()).claims.size() == on.size());
}

}  // namespace tarcil::requirements_test
