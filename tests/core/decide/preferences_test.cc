// Servers that jobs and tasks name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "core/decide/chooser.h"
#include "tests/core/decide/deciding.h"
#include "tests/support/builders.h"

namespace tarcil::preferences_test {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr Resource kLlc = Resource::kLlc;

TEST(Preferences, OfATaskGoBeforeThoseOfTheJob) {
  auto state = aCluster(idle(500));
  JobSpec spec = aJob(3);
  spec.placement.prefer = {"s1"};
  spec.placement.preferOfTask = {{1, {"s400", "s2"}}};
  const Decision decision = decide(state, spec);
  std::map<TaskIndex, std::string> at;
  for (const Claim& claim : decision.claims) at[claim.task] = state.name(claim.server);
  EXPECT_THAT(at, ElementsAre(testing::Pair(0, "s1"), testing::Pair(1, "s400"), testing::Pair(2, "s1")));
}

TEST(Preferences, OfATaskTakeTheBestOfItsServers) {
  auto servers = idle(500);
  servers[7].platform("slow");
  auto state = aCluster(servers);
  JobSpec spec = aJob(2);
  spec.profile.platforms = {{"reference", 1}, {"slow", 0.96}};  // acceptable, and not as good
  spec.placement.preferOfTask = {{0, {"s7", "s9"}}, {1, {"s9", "s7"}}};
  EXPECT_THAT(places(state, decide(state, spec)), ElementsAre("s9", "s9"));
}

TEST(Preferences, OfAJobTakeTheBestOfItsServers) {
  auto servers = idle(500);
  servers[7].platform("slow");
  auto state = aCluster(servers);
  JobSpec spec = aJob(2);
  spec.profile.platforms = {{"reference", 1}, {"slow", 0.96}};  // acceptable, and not as good
  for (const auto& [first, second] : {std::pair("s7", "s9"), std::pair("s9", "s7")}) {
    spec.placement.prefer = {first, second};
    for (uint64_t seed = 0; seed < 20; ++seed) {
      EXPECT_THAT(places(state, decide(state, spec, seed)), ElementsAre("s9", "s9"));
    }
  }
  spec.placement.prefer = {"s7"};
  EXPECT_THAT(places(state, decide(state, spec)), ElementsAre("s7", "s7")) << "good enough, and preferred";
}

TEST(Preferences, OfATaskFallBackToTheSample) {
  auto servers = idle(500, 1);
  servers[7].background({{kLlc, 99}});
  auto state = aCluster(servers);
  JobSpec spec = aJob(3, tolerating({{kLlc, 0}}));
  for (TaskIndex task = 0; task < 3; ++task) spec.placement.preferOfTask[task] = {"s7", "unheard-of", "s9"};
  const Decision decision = decide(state, spec);
  const auto chosen = places(state, decision);
  EXPECT_EQ(chosen.size(), 3u);
  EXPECT_EQ(std::count(chosen.begin(), chosen.end(), "s9"), 1);
  EXPECT_EQ(std::count(chosen.begin(), chosen.end(), "s7"), 0);
}

TEST(Preferences, LeaveNothingToChanceWhereAllTasksHaveThem) {
  auto state = aCluster(idle(500));
  JobSpec spec = aJob(2);
  spec.placement.preferOfTask = {{0, {"s1"}}, {1, {"s2"}}};
  const Decision decision = decide(state, spec);
  EXPECT_THAT(places(state, decision), ElementsAre("s1", "s2"));
  EXPECT_EQ(decision.explanation.drawn, 0u);
  EXPECT_EQ(guarantee(decision.explanation), 1.0);
}

TEST(Preferences, LeaveRoomForTasksWithoutThem) {
  // The named servers fit best, and have room beyond the tasks that name them.
  std::vector<ServerBuilder> servers;
  for (int i = 0; i < 12; ++i) {
    servers.push_back(aServer("named" + std::to_string(i)).rus(2).background({{kLlc, 20}}));
  }
  for (int i = 0; i < 500; ++i) servers.push_back(aServer("other" + std::to_string(i)).rus(1));
  auto state = aCluster(servers);
  JobSpec spec = aJob(13, tolerating({{kLlc, 20}}));
  for (TaskIndex task = 0; task < 12; ++task) {
    spec.placement.preferOfTask[task] = {"named" + std::to_string(task)};
  }
  for (uint64_t seed = 0; seed < 20; ++seed) EXPECT_EQ(decide(state, spec, seed).claims.size(), 13u);
}

TEST(Preferences, DoNotKeepATaskFromTheBestThereIs) {
  auto state = aCluster({aServer("bad").rus(1).background({{kLlc, 60}})});
  JobSpec spec = aJob(1, tolerating({{kLlc, 20}}));
  spec.placement.preferOfTask = {{0, {"bad"}}};
  EXPECT_THAT(decide(state, spec).claims, IsEmpty());
  EXPECT_THAT(places(state, decide(state, spec, 1, Standard::kBestThereIs)), ElementsAre("bad"));
}

TEST(Preferences, LeaveTheBestThereIsToTasksWithoutThem) {
  // Better than the others, if not good enough, and full with the first task.
  auto servers = idle(40, 1);
  for (size_t i = 0; i < servers.size(); ++i) servers[i].background({{kLlc, i < 8 ? 60 : 90}});
  auto state = aCluster(servers);
  JobSpec spec = aJob(9, tolerating({{kLlc, 20}}));
  for (TaskIndex task = 0; task < 8; ++task) spec.placement.preferOfTask[task] = {"s" + std::to_string(task)};
  const Decision decision = decide(state, spec, 1, Standard::kBestThereIs);
  EXPECT_EQ(decision.claims.size(), 9u);
  EXPECT_EQ(serversOf(state, decision).size(), 9u);
}

}  // namespace tarcil::preferences_test
