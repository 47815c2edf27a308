#include "core/decide/group_flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/core/decide/deciding.h"
#include "tests/support/builders.h"

namespace tarcil::group_flow_test {

using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

// Tasks, and by server how many of its first slots they may take.
struct Group {
  uint32_t tasks = 0;
  std::map<ServerId, uint32_t> slots{};
};

uint32_t tasksOf(const std::vector<Group>& groups) {
  uint32_t tasks = 0;
  for (const Group& group : groups) tasks += group.tasks;
  return tasks;
}

std::vector<GroupFlow::Share> flowOf(const std::vector<Group>& groups, const SpreadCount& placed) {
  GroupFlow flow(placed, tasksOf(groups));
  for (const Group& group : groups) {
    flow.addGroup(group.tasks);
    for (const auto& [server, slots] : group.slots) {
      if (!flow.addServer(server, slots)) break;
    }
  }
  return flow.largest();
}

// By group and server.
std::map<std::pair<uint32_t, ServerId>, uint32_t> byPlace(const std::vector<GroupFlow::Share>& shares) {
  std::map<std::pair<uint32_t, ServerId>, uint32_t> tasks;
  for (const GroupFlow::Share& share : shares) tasks[{share.group, share.server}] += share.tasks;
  return tasks;
}

TEST(GroupFlow, LeavesServersToThoseThatHaveNoOther) {
  const ClusterState state = aCluster(idle(3));
  const SpreadCount placed(state, {});
  const auto shares = flowOf({{1, {{0, 1}, {1, 1}}}, {1, {{0, 1}}}, {2, {{1, 1}, {2, 2}}}}, placed);
  EXPECT_THAT(byPlace(shares),
              UnorderedElementsAre(Pair(Pair(0, 1), 1), Pair(Pair(1, 0), 1), Pair(Pair(2, 2), 2)));
}

TEST(GroupFlow, PlacesWhatFitsWhereNotAllDoes) {
  const ClusterState state = aCluster(idle(1));
  const SpreadCount placed(state, {});
  uint32_t tasks = 0;
  for (const auto& share : flowOf({{2, {{0, 3}}}, {2, {{0, 3}}}}, placed)) tasks += share.tasks;
  EXPECT_EQ(tasks, 3u);
  EXPECT_THAT(flowOf({{2, {}}, {1, {{0, 0}}}}, placed), IsEmpty());
}

TEST(GroupFlow, CountsTheTasksThatSitInADomain) {
  const ClusterState state =
      aCluster({aServer("a").rack("1"), aServer("b").rack("1"), aServer("c").rack("2")});
  Placement placement;
  placement.spread = Domain::kRack;
  placement.atMost = 2;
  SpreadCount placed(state, placement);
  placed.add(*state.find("a"));
  const auto shares = flowOf({{1, {{0, 4}, {2, 1}}}, {1, {{1, 4}}}}, placed);
  EXPECT_THAT(byPlace(shares), UnorderedElementsAre(Pair(Pair(0, 2), 1), Pair(Pair(1, 1), 1)));
}

TEST(GroupFlow, NeedsNoMoreServersThanHaveASlotForEveryTask) {
  const ClusterState state = aCluster(idle(4));
  GroupFlow flow(SpreadCount(state, {}), 5);
  flow.addGroup(2);
  EXPECT_TRUE(flow.addServer(0, 2));
  EXPECT_TRUE(flow.addServer(1, 2));
  EXPECT_FALSE(flow.addServer(2, 1));
  flow.addGroup(3);
  EXPECT_TRUE(flow.addServer(0, 4));
}

TEST(GroupFlow, LooksAtABoundedNumberOfPairs) {
  const ClusterState state = aCluster(idle(1));
  GroupFlow flow(SpreadCount(state, {}), 2 * GroupFlow::kMaxPairs);
  for (size_t pair = 0; pair < GroupFlow::kMaxPairs; ++pair) {
    flow.addGroup(1);
    ASSERT_TRUE(flow.addServer(0, 1));
  }
  EXPECT_FALSE(flow.isCut());
  flow.addGroup(1);
  EXPECT_FALSE(flow.addServer(0, 1));
  EXPECT_TRUE(flow.isCut());
  EXPECT_EQ(flow.largest().size(), 1u);
}

// --- Against every way there is.

struct Tiny {
  ClusterState state;
  Placement placement;
  std::vector<ServerId> placedOn;
  std::vector<Group> groups;

  Tiny() {
    const uint32_t servers = *rc::gen::inRange(1u, 4u);
    std::vector<ServerBuilder> made = idle(servers);
    for (ServerBuilder& server : made) server.rack("r" + std::to_string(*rc::gen::inRange(0, 2)));
    state = aCluster(made);
    if (*rc::gen::arbitrary<bool>()) placement.spread = *rc::gen::element(Domain::kRack, Domain::kServer);
    placement.atMost = *rc::gen::inRange(1u, 4u);
    if (*rc::gen::arbitrary<bool>()) placedOn = {0};
    groups.resize(*rc::gen::inRange(1u, 4u));
    for (Group& group : groups) {
      group.tasks = *rc::gen::inRange(1u, 3u);
      for (ServerId server = 0; server < servers; ++server) {
        if (const uint32_t slots = *rc::gen::inRange(0u, 4u)) group.slots[server] = slots;
      }
    }
  }

  SpreadCount placed() const {
    SpreadCount count(state, placement);
    for (ServerId server : placedOn) count.add(server);
    return count;
  }
};

// Whether these groups fit on the server: those that may take fewer slots of it first.
bool fitsOn(ServerId server, const std::vector<Group>& groups, const std::vector<uint32_t>& tasks) {
  std::multimap<uint32_t, uint32_t> bySlots;
  for (size_t group = 0; group < groups.size(); ++group) {
    const auto slots = groups[group].slots.find(server);
    if (tasks[group] > 0)
      bySlots.emplace(slots == groups[group].slots.end() ? 0 : slots->second, tasks[group]);
  }
  uint32_t taken = 0;
  for (const auto& [slots, count] : bySlots) {
    taken += count;
    if (taken > slots) return false;
  }
  return true;
}

using Tasks = std::vector<std::vector<uint32_t>>;  // by server, then by group

bool isAllowed(const Tiny& tiny, const Tasks& tasks) {
  std::map<std::string_view, uint32_t> added;
  const Domains domains(tiny.state, tiny.placement.spread);
  for (ServerId server = 0; server < tasks.size(); ++server) {
    if (!fitsOn(server, tiny.groups, tasks[server])) return false;
    for (uint32_t count : tasks[server]) added[domains.of(server)] += count;
  }
  if (tiny.placement.spread.empty()) return true;
  for (ServerId server : tiny.placedOn) ++added[domains.of(server)];
  return std::ranges::all_of(added,
                             [&](const auto& domain) { return domain.second <= tiny.placement.atMost; });
}

// The most tasks that can be placed, with those of the groups before `group` in place.
uint32_t mostByTrying(const Tiny& tiny, size_t group, uint32_t left, Tasks& tasks) {
  if (group == tiny.groups.size()) return 0;
  const uint32_t next = group + 1 < tiny.groups.size() ? tiny.groups[group + 1].tasks : 0;
  uint32_t most = mostByTrying(tiny, group + 1, next, tasks);
  if (left == 0) return most;
  for (auto& onServer : tasks) {
    ++onServer[group];
    if (isAllowed(tiny, tasks)) most = std::max(most, 1 + mostByTrying(tiny, group, left - 1, tasks));
    --onServer[group];
  }
  return most;
}

RC_GTEST_PROP(GroupFlows, PlaceAsManyTasksAsPossible, ()) {
  const Tiny tiny;
  Tasks tasks(tiny.state.size(), std::vector<uint32_t>(tiny.groups.size()));
  const uint32_t most = mostByTrying(tiny, 0, tiny.groups.front().tasks, tasks);
  uint32_t placed = 0;
  std::vector<uint32_t> ofGroup(tiny.groups.size());
  for (const auto& share : flowOf(tiny.groups, tiny.placed())) {
    RC_ASSERT(share.tasks > 0u);
    tasks[share.server][share.group] += share.tasks;
    ofGroup[share.group] += share.tasks;
    placed += share.tasks;
  }
  for (size_t group = 0; group < ofGroup.size(); ++group)
    RC_ASSERT(ofGroup[group] <= tiny.groups[group].tasks);
  RC_ASSERT(isAllowed(tiny, tasks));
  RC_ASSERT(placed == most);
  RC_TAG(placed == tasksOf(tiny.groups));
}

}  // namespace tarcil::group_flow_test
