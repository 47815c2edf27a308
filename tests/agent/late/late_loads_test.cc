// What late-bound jobs an agent takes.
#include "agent/late/late_loads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tarcil::late_loads_test {

using testing::HasSubstr;

constexpr LateLoad kMost = {.tasks = 100, .taskServers = 1'000, .bytes = 10'000};

// Of each kind, the half of it, and one more.
struct Kind {
  LateLoad half, one;
};
constexpr Kind kKinds[] = {{{.tasks = 50}, {.tasks = 1}},
                           {{.taskServers = 500}, {.taskServers = 1}},
                           {{.bytes = 5'000}, {.bytes = 1}}};

TEST(LateBoundTasks, OfOneUserTakeHalfOfWhatAnAgentHolds) {
  for (const Kind& kind : kKinds) {
    LateLoads loads(kMost);
    ASSERT_TRUE(loads.check("alice", kind.half).ok());
    loads.add("alice", kind.half);
    const Status alices = loads.check("alice", kind.one);
    ASSERT_FALSE(alices.ok());
    EXPECT_EQ(alices.error().code, ErrorCode::kExhausted);
    EXPECT_THAT(alices.error().message, HasSubstr("late-bound tasks of alice"));
    ASSERT_TRUE(loads.check("bob", kind.half).ok()) << "she shuts out nobody";
    loads.add("bob", kind.half);
    const Status carols = loads.check("carol", kind.one);
    ASSERT_FALSE(carols.ok());
    EXPECT_THAT(carols.error().message, HasSubstr("holds too many late-bound tasks; try again in 10 s"));
  }
}

TEST(LateBoundTasks, ThatAreOverMakeRoom) {
  LateLoads loads(kMost);
  const LateLoad job = {.tasks = 30, .taskServers = 300, .bytes = 3'000};
  loads.add("alice", job);
  EXPECT_FALSE(loads.check("alice", job).ok());
  loads.remove("alice", job);
  EXPECT_EQ(loads.all(), LateLoad());
  EXPECT_TRUE(loads.check("alice", job).ok());
}

}  // namespace tarcil::late_loads_test
