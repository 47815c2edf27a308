#include "agent/late/task_servers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "core/model/constraint.h"

namespace tarcil::task_servers_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Servers "0" to "9" are up.
std::optional<ServerId> usable(const std::string& name) {
  return name.size() == 1 ? std::optional<ServerId>(name.front() - '0') : std::nullopt;
}

// Those whose name is listed meet `server in (...)`, whether they are up or not.
std::vector<ServerId> meeting(const std::vector<Constraint>& required) {
  std::vector<ServerId> servers;
  for (const std::string& name : required.front().values) {
    if (name.size() <= 2) servers.push_back(static_cast<ServerId>(std::stoi(name)));
  }
  return servers;
}

SuitableServers all(std::vector<ServerId> servers) {
  return {std::move(servers), usable, meeting};
}

std::vector<TaskIndex> firstTasks(size_t count) {
  std::vector<TaskIndex> tasks(count);
  std::iota(tasks.begin(), tasks.end(), 0);
  return tasks;
}

TEST(TaskServers, AreThoseThatItOrItsJobPrefersElseAll) {
  Placement placement;
  placement.prefer = {"3", "gone", "1", "3"};
  placement.preferOfTask = {{7, {"2"}}, {8, {"gone"}}};
  const auto lists = serversOfTasks(placement, {6, 7, 8}, all({1, 2, 3, 4}));
  ASSERT_TRUE(lists.ok());
  EXPECT_THAT(*lists, ElementsAre(ElementsAre(1, 3), ElementsAre(2), ElementsAre(1, 2, 3, 4)));
  EXPECT_EQ(countTaskServers(*lists), 7u);
}

TEST(TaskServers, AreThoseThatItRequiresWhetherTheyAreUpOrNot) {
  Placement placement;
  placement.prefer = {"1"};
  placement.preferOfTask = {{1, {"3", "4"}}};
  // "20" is down.
  placement.requireOfTask = {
      {0, {onServers({"2", "20"})}}, {1, {onServers({"2", "4"})}}, {2, {onServers({"20"})}}};
  const auto lists = serversOfTasks(placement, firstTasks(4), all({1, 2, 3, 4, 20}));
  ASSERT_TRUE(lists.ok());
  EXPECT_THAT(*lists, ElementsAre(ElementsAre(2, 20), ElementsAre(4), ElementsAre(20), ElementsAre(1)));
  placement.requireOfTask = {{2, {onServers({"gone"})}}};
  const auto none = serversOfTasks(placement, firstTasks(4), all({1, 2, 3, 4}));
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(none.error().message, HasSubstr("task 2 requires server in (gone)"));
}

TEST(TaskServers, AreAlikeWhereNoneThatIsPreferredIsThere) {
  size_t looked = 0;
  Placement placement;
  placement.prefer.assign(1'000, "gone");
  const auto counted = [&looked](const std::string& name) {
    ++looked;
    return usable(name);
  };
  std::vector<ServerId> feasible(10'000);
  std::iota(feasible.begin(), feasible.end(), 0);
  const auto lists = serversOfTasks(placement, firstTasks(100'000), {feasible, counted, meeting});
  ASSERT_TRUE(lists.ok());
  EXPECT_THAT(*lists, IsEmpty());
  EXPECT_EQ(looked, 1'000u) << "once for each name, not for each task";
}

TEST(TaskServers, AreBounded) {
  Placement placement;
  placement.preferOfTask = {{0, {"1"}}};
  std::vector<ServerId> feasible(1'000);
  std::iota(feasible.begin(), feasible.end(), 0);
  EXPECT_TRUE(serversOfTasks(placement, firstTasks(1'000), all(feasible)).ok());
  const auto tooMany = serversOfTasks(placement, firstTasks(1'002), all(feasible));
  ASSERT_FALSE(tooMany.ok());
  EXPECT_EQ(tooMany.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(tooMany.error().message, HasSubstr("make 1001001 pairs"));
}

}  // namespace tarcil::task_servers_test
