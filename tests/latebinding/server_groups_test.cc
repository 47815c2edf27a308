#include "latebinding/server_groups.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace tarcil::late::server_groups_test {

RC_GTEST_PROP(ServerGroups, SamplesAreDistinctMembersThatAreUp, ()) {
  Rng rng(*rc::gen::arbitrary<uint64_t>());
  ServerGroups groups;
  const auto servers = *rc::gen::inRange(1u, 30u);
  for (ServerId server = 0; server < servers; ++server) groups.setUp(server);
  std::set<ServerId> expected;
  std::vector<ServerId> members;
  for (ServerId server = 0; server < servers; ++server) {
    if (*rc::gen::inRange(0, 2) == 0) continue;
    members.push_back(server);
    expected.insert(server);
  }
  const GroupNumber group = groups.make(members);
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
    const auto down = *rc::gen::inRange(0u, servers);
    groups.setDown(down);
    expected.erase(down);
  }
  const size_t wanted = *rc::gen::inRange(0u, 40u);
  const auto sample = groups.sample(group, wanted, rng);
  const std::set<ServerId> drawn(sample.begin(), sample.end());
  RC_ASSERT(drawn.size() == sample.size());
  RC_ASSERT(sample.size() == std::min(wanted, expected.size()));
  for (ServerId server : drawn) RC_ASSERT(expected.contains(server));
}

TEST(ServerGroups, SamplesAreUniformWhateverWasDrawnBefore) {
  Rng rng(1);
  ServerGroups groups;
  for (ServerId server = 0; server < 10; ++server) groups.setUp(server);
  std::vector<uint64_t> counts(10);
  for (int i = 0; i < 20'000; ++i) {
    for (ServerId server : groups.sample(kAllServers, 3, rng)) ++counts[server];
  }
  double chiSquare = 0;
  for (uint64_t count : counts)
    chiSquare += (static_cast<double>(count) - 6'000) * (static_cast<double>(count) - 6'000) / 6'000;
  EXPECT_LT(chiSquare, 27.9);  // 9 degrees of freedom, one in a thousand
}

TEST(ServerGroups, DroppedGroupsAreUsedAgain) {
  ServerGroups groups;
  groups.setUp(4);
  const ServerId members[] = {4, 9};
  const GroupNumber group = groups.make(members);
  EXPECT_EQ(groups.size(group), 1u);  // 9 is not up
  groups.drop(group);
  EXPECT_EQ(groups.make({}), group);
}

}  // namespace tarcil::late::server_groups_test
