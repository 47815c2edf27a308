// Choices at the ends: one server of many, few large ones, many tasks that hurt each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "core/decide/chooser.h"
#include "core/model/constraint.h"
#include "tests/core/decide/deciding.h"
#include "tests/support/builders.h"

namespace tarcil::sizes_test {

using testing::ElementsAre;

constexpr Resource kLlc = Resource::kLlc;

TEST(Choose, FindsTheRareServerThatConstraintsLeave) {
  auto servers = idle(20'000, 2);
  servers[13'337].attribute("gpu", "true");
  auto state = aCluster(servers);
  JobSpec spec = aJob(2);
  spec.placement.constraints = {*parseConstraint("gpu = true")};
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_THAT(places(state, decide(state, spec, seed)), ElementsAre("s13337", "s13337"));
  }
}

TEST(Choose, FillsFewLargeServers) {
  auto state = aCluster(idle(3, 1'000));
  Profile light;
  light.caused[static_cast<size_t>(kLlc)] = 1;
  light.tolerated[static_cast<size_t>(kLlc)] = 49;
  // The 45th on a server would feel 44, and 54 with the margin: five more than it tolerates.
  EXPECT_EQ(decide(state, aJob(3'000, light)).claims.size(), 3 * 44u);
  EXPECT_EQ(decide(state, aJob(3'000)).claims.size(), 3'000u);
}

TEST(Choose, SpreadsAJobThatIsItsOwnWorstNeighbourOverAnAlmostIdleCluster) {
  auto servers = idle(2'000, 10);
  for (size_t i = 0; i < servers.size(); i += 10) servers[i].holding(causing({{kLlc, 10}}));
  auto state = aCluster(servers);
  const Decision decision = decide(state, aJob(1'500, causing({{kLlc, 80}})));
  EXPECT_EQ(decision.claims.size(), 1'500u);
  EXPECT_THAT(serversOf(state, decision), testing::SizeIs(1'500));
}

}  // namespace tarcil::sizes_test
