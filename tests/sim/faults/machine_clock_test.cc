#include "sim/faults/machine_clock.h"

#include <gtest/gtest.h>

namespace tarcil::sim::machine_clock_test {

using namespace std::chrono_literals;

TEST(MachineClock, ShowsAReadingFromThatTrueTimeOnAndNoSooner) {
  for (const int64_t ppm : {-10'000, -1, 0, 1, 10'000}) {
    VirtualWorld world(1, Log::kNone);
    MachineClock clock(world);
    clock.runBy(ppm);
    const MonotonicTime reading = clock.now().steady + 12'345'678us;
    const MonotonicTime when = clock.truth(reading);
    world.step(when - 1us);
    EXPECT_LT(clock.now().steady, reading) << ppm;
    world.step(when);
    EXPECT_GE(clock.now().steady, reading) << ppm;
  }
}

TEST(MachineClock, OnlyTheClockForPeopleJumps) {
  VirtualWorld world(1, Log::kNone);
  MachineClock clock(world);
  const Now before = clock.now();
  clock.jump(-2h);
  EXPECT_EQ(clock.now().steady, before.steady);
  EXPECT_EQ(clock.now().wall, before.wall - 2h);
}

TEST(VirtualTimer, RingsOnceAtTheTimeThatWasSetLast) {
  VirtualWorld world(1, Log::kNone);
  const MachineClock clock(world);
  std::vector<MonotonicTime> rings;
  VirtualTimer timer(world, clock, [&world, &rings] { rings.push_back(world.now().steady); });
  const MonotonicTime begin = world.now().steady;
  timer.set(begin + 1s);
  timer.set(begin + 3s);
  timer.set(begin + 2s);
  while (world.step(begin + 10s)) {
  }
  EXPECT_EQ(rings, std::vector{begin + 2s});
  timer.set(begin + 11s);
  timer.clear();
  while (world.step(begin + 20s)) {
  }
  EXPECT_EQ(rings.size(), 1u);
}

}  // namespace tarcil::sim::machine_clock_test
