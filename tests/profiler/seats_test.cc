// Where the command sits and where what presses on it does, and what it causes by its own use.
#include <gtest/gtest.h>

#include "profiler/profile_command.h"

namespace tarcil::seats_test {

Machine withCores(std::vector<int> cores) {
  Machine machine;
  machine.cores = machine.firstThreads = std::move(cores);
  machine.memoryBytes = uint64_t{16} << 30;
  return machine;
}

TEST(Seats, LeaveTheOtherCoresToNeighbours) {
  const Seats seats = seatsFor(withCores({0, 2, 4, 6}), 3);
  EXPECT_EQ(seats.command, (std::vector<int>{0, 2, 4}));
  EXPECT_EQ(seats.neighbours, std::vector<int>{6});
}

TEST(Contention, ForCachesOfOneCoreNeedsSiblings) {
  Seats seats = {{0}, {1}, {}};
  for (Resource resource : {Resource::kCore, Resource::kL1i, Resource::kL1d, Resource::kL2, Resource::kTlb}) {
    EXPECT_TRUE(whyNotContended(resource, seats));
  }
  seats.siblings = {4};
  EXPECT_FALSE(whyNotContended(Resource::kL2, seats));
  EXPECT_EQ(pressingCores(Resource::kL2, seats), std::vector<int>{4});
  EXPECT_EQ(pressingCores(Resource::kLlc, seats), std::vector<int>{1});
}

TEST(Contention, ForWhatIsSharedNeedsAnotherCore) {
  EXPECT_FALSE(whyNotContended(Resource::kMemoryBandwidth, {{0}, {1}, {}}));
  EXPECT_TRUE(whyNotContended(Resource::kMemoryBandwidth, {{0}, {}, {}}));
}

TEST(CausedByUse, IsTheShareOfTheWholeServer) {
  CommandOutcome run;
  run.wall = Seconds(2);
  run.cpuSeconds = 2;
  run.memoryBytes = uint64_t{4} << 30;
  run.diskBytes = 100'000'000;
  Calibration calibration;
  const auto at = [](const auto& caused, Resource resource) { return caused[static_cast<size_t>(resource)]; };
  auto caused = causedByUse(run, withCores({0, 1, 2, 3}), calibration);
  EXPECT_EQ(at(caused, Resource::kCore), 25);
  EXPECT_EQ(at(caused, Resource::kMemoryCapacity), 25);
  EXPECT_FALSE(at(caused, Resource::kDiskBandwidth));  // nobody knows what the disk can do
  EXPECT_FALSE(at(caused, Resource::kLlc));
  calibration[Resource::kDiskBandwidth].peak = 500'000'000;
  caused = causedByUse(run, withCores({0, 1, 2, 3}), calibration);
  EXPECT_EQ(at(caused, Resource::kDiskBandwidth), 10);
}

TEST(CausedByUse, DoesNotCountWaitingForACoreThatOthersHad) {
  CommandOutcome run;
  run.wall = Seconds(4);
  run.cpuSeconds = 1;
  run.waitedSeconds = 3;
  EXPECT_EQ(causedByUse(run, withCores({0, 1}), {})[static_cast<size_t>(Resource::kCore)], 50);
}

TEST(CausedByUse, OfDisksIsNothingWithoutTraffic) {
  CommandOutcome run;
  run.wall = Seconds(1);
  EXPECT_EQ(causedByUse(run, withCores({0}), {})[static_cast<size_t>(Resource::kDiskBandwidth)], 0);
}

TEST(PressureReached, IsTheShareOfThePeakOrWhatTheDialSays) {
  Calibration calibration;
  calibration[Resource::kMemoryBandwidth].peak = 200;
  EXPECT_DOUBLE_EQ(pressureReached(calibration, Resource::kMemoryBandwidth, 99, 100), 49.5);
  EXPECT_DOUBLE_EQ(pressureReached(calibration, Resource::kMemoryBandwidth, 99, 300), 99);
  EXPECT_DOUBLE_EQ(pressureReached(calibration, Resource::kLlc, 40, 100), 40);
}

}  // namespace tarcil::seats_test
