#include "sim/faults/oom_killer.h"

#include <gtest/gtest.h>

namespace tarcil::sim::oom_killer_test {

using namespace std::chrono_literals;

constexpr MonotonicTime kBegin{};

TEST(OomKiller, StrikesOnceWhereTheQueuesAreAsLongAsTheyWereWhileItWatched) {
  OomKiller killer;
  EXPECT_FALSE(killer.strikes(9, kBegin));
  killer.watch(kBegin + 1s);
  EXPECT_FALSE(killer.strikes(5, kBegin));
  EXPECT_FALSE(killer.strikes(3, kBegin + 500ms));
  EXPECT_FALSE(killer.strikes(4, kBegin + 1s));
  EXPECT_TRUE(killer.strikes(5, kBegin + 2s));
  EXPECT_FALSE(killer.strikes(9, kBegin + 3s));
}

TEST(OomKiller, DoesNotStrikeOnceItIsCalledOff) {
  OomKiller killer;
  killer.watch(kBegin);
  killer.callOff();
  EXPECT_FALSE(killer.strikes(1, kBegin + 1s));
}

}  // namespace tarcil::sim::oom_killer_test
