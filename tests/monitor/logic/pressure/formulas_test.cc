#include "monitor/logic/pressure/formulas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/monitor/pressure/readings.h"

namespace tarcil::formulas_test {

using testing::HasSubstr;

struct Formulas : testing::Test {
  PressureReading before = quietReading();
  PressureReading after = secondLater(before);
  Capacities capacities{1e6, 1e9, 1000};

  // Each with the reason that it gives.
  std::string problem(const Result<double>& pressure) {
    return pressure.ok() ? "" : pressure.error().message;
  }
};

TEST_F(Formulas, GiveNothingOnAQuietServerButItsMemory) {
  const auto pressures = backgroundBetween(before, after, capacities);
  for (int i = 0; i < kResources; ++i) {
    const bool isMemory = static_cast<Resource>(i) == Resource::kMemoryCapacity;
    EXPECT_DOUBLE_EQ(*pressures[static_cast<size_t>(i)], isMemory ? 99 * 0.4 : 0) << kResourceNames[i];
  }
}

TEST_F(Formulas, CoreIsTimeThatTasksDoNotExplain) {
  after.machine.cpu = CpuTimes{200, 160, 40};   // of 400 ticks
  after.tasks.cpuMicros = uint64_t{1'000'000};  // 100 ticks
  EXPECT_DOUBLE_EQ(*corePressure(before, after), 99 * 140.0 / 400);
}

TEST_F(Formulas, CoreIsNeverBelowZeroWhereTasksAreCountedMoreFinely) {
  after.machine.cpu = CpuTimes{10, 390, 0};
  after.tasks.cpuMicros = uint64_t{104'000};
  EXPECT_EQ(*corePressure(before, after), 0);
}

TEST_F(Formulas, CounterThatWentBackStandsStill) {
  before.machine.cpu = CpuTimes{500, 0, 0};
  after.machine.cpu = CpuTimes{100, 400, 0};
  EXPECT_EQ(*corePressure(before, after), 0);
}

TEST_F(Formulas, PrivateCachesAndTlbAreTimeSpentOnRefills) {
  after.machine.cpu = CpuTimes{200, 200, 0};  // half of the time the cores worked
  HardwareCounts machine = noCounts();
  machine.cycles = 1'000'000;
  machine.l1iMisses = 10'000;
  machine.l1dMisses = 20'000;
  machine.l2Misses = 5'000;
  machine.tlbMisses = 3'000;
  after.machine.hardware = machine;
  HardwareCounts tasks = noCounts();
  tasks.l1dMisses = 15'000;
  after.tasks.hardware = tasks;
  EXPECT_DOUBLE_EQ(*l1iPressure(before, after), 99 * 0.14 / 2);
  EXPECT_DOUBLE_EQ(*l1dPressure(before, after), 99 * 0.07 / 2);
  EXPECT_DOUBLE_EQ(*l2Pressure(before, after), 99 * 0.25 / 2);
  EXPECT_DOUBLE_EQ(*tlbPressure(before, after), 99 * 0.09 / 2);
}

TEST_F(Formulas, CountersThatTheProcessorLacksAreAbsentAndNotZero) {
  after.machine.cpu = CpuTimes{200, 200, 0};
  HardwareCounts some = noCounts();
  some.l1iMisses.reset();
  after.tasks.hardware = some;
  EXPECT_THAT(problem(l1iPressure(before, after)), HasSubstr("does not count"));
  EXPECT_TRUE(l1dPressure(before, after).ok());
  some.llcMisses.reset();
  after.tasks.hardware = some;
  after.machine.cache = notFound("no resctrl");
  EXPECT_THAT(problem(memoryBandwidthPressure(before, after, capacities)), HasSubstr("does not count"));
}

TEST_F(Formulas, LastLevelCacheIsWhatOthersOccupy) {
  after.machine.cache = CacheUse{900, 0};
  after.tasks.cache = CacheUse{400, 0};
  EXPECT_DOUBLE_EQ(*llcPressure(after, capacities), 99 * 0.5);
  EXPECT_THAT(problem(llcPressure(after, {})), HasSubstr("size of the last-level cache"));
}

TEST_F(Formulas, MemoryBandwidthIsByResctrlElseByMisses) {
  HardwareCounts misses = noCounts();
  misses.llcMisses = 1e6;
  after.machine.hardware = misses;
  after.machine.cache = CacheUse{0, 500'000'000};
  after.tasks.cache = CacheUse{0, 200'000'000};
  EXPECT_DOUBLE_EQ(*memoryBandwidthPressure(before, after, capacities), 99 * 0.3);
  after.machine.cache = notFound("no resctrl");
  EXPECT_DOUBLE_EQ(*memoryBandwidthPressure(before, after, capacities), 99 * 0.064);
  after.machine.hardware = notFound("no counters");
  EXPECT_EQ(problem(memoryBandwidthPressure(before, after, capacities)), "no counters");
}

TEST_F(Formulas, MemoryCapacityLeavesOutWhatIsTheTasksAndWhatCanBeHadBack) {
  after.tasks.memory = CgroupMemory{300, 100, 0};
  EXPECT_DOUBLE_EQ(*memoryCapacityPressure(after), 99 * 0.2);
}

TEST_F(Formulas, APartOfAMachineHasTheMemoryThatItsTasksLeaveOfIt) {
  EXPECT_EQ(*memoryOfPart(1000, CgroupMemory{300, 100, 7}), (MemoryUse{1000, 800, 7}));
  EXPECT_EQ(memoryOfPart(1000, CgroupMemory{1300, 100, 0})->available, 0u) << "a limit that was passed";
  EXPECT_EQ(memoryOfPart(1000, CgroupMemory{100, 300, 0})->available, 1000u)
      << "files of others are counted too";
  EXPECT_EQ(memoryOfPart(1000, notFound("no controller")).error().message, "no controller");
}

TEST_F(Formulas, DiskIsBusyTimeByTheShareOfForeignBytes) {
  after.machine.disks = std::map<Device, DiskCounts>{{{8, 0}, {{600, 400}, 500}}};
  after.tasks.disks = std::map<Device, TransferBytes>{{{8, 0}, {200, 300}}};
  EXPECT_DOUBLE_EQ(*diskPressure(before, after), 99 * 0.5 * 0.5);
}

TEST_F(Formulas, DiskIsTheOneThatIsPressedMost) {
  before.machine.disks = std::map<Device, DiskCounts>{{{8, 0}, {}}, {{8, 16}, {}}};
  after.machine.disks = std::map<Device, DiskCounts>{{{8, 0}, {{600, 0}, 100}}, {{8, 16}, {{5, 0}, 800}}};
  EXPECT_DOUBLE_EQ(*diskPressure(before, after), 99 * 0.8);
}

TEST_F(Formulas, DiskThatComesAndOneThatGoesCountNothing) {
  before.machine.disks = std::map<Device, DiskCounts>{{{8, 0}, {}}};
  after.machine.disks = std::map<Device, DiskCounts>{{{8, 16}, {{600, 0}, 800}}};
  EXPECT_EQ(*diskPressure(before, after), 0);
}

TEST_F(Formulas, WriteBackIsTheTasksAsFarAsTheDirtyPagesWere) {
  before.machine.memory = MemoryUse{1000, 600, 80};
  before.tasks.memory = CgroupMemory{100, 0, 60};
  after.machine.disks = std::map<Device, DiskCounts>{{{8, 0}, {{0, 400}, 1000}}};
  EXPECT_DOUBLE_EQ(*diskPressure(before, after), 99 * 0.25);
}

TEST_F(Formulas, NetworkIsTheBusierDirection) {
  after.machine.network = TransferBytes{300'000, 700'000};
  after.tasks.network = TransferBytes{0, 200'000};
  EXPECT_DOUBLE_EQ(*networkPressure(before, after, capacities), 99 * 0.5);
  EXPECT_THAT(problem(networkPressure(before, after, {})), HasSubstr("--network-bandwidth"));
}

TEST_F(Formulas, WhatIsNotReadIsAbsentWithItsReasonAndTheRestGoesOn) {
  after.machine.cpu = invalid("/proc/stat:1: not a core and eight numbers");
  after.tasks.disks = notFound("no blkio");
  const auto pressures = backgroundBetween(before, after, capacities);
  const auto of = [&pressures](Resource resource) { return pressures[static_cast<size_t>(resource)]; };
  EXPECT_EQ(problem(of(Resource::kCore)), "/proc/stat:1: not a core and eight numbers");
  EXPECT_EQ(problem(of(Resource::kDiskBandwidth)), "no blkio");
  EXPECT_TRUE(of(Resource::kNetworkBandwidth).ok());
}

TEST_F(Formulas, TwoReadingsOfOneMomentGiveNoRates) {
  const auto pressures = backgroundBetween(before, before, capacities);
  for (const Resource rate : {Resource::kCore, Resource::kDiskBandwidth, Resource::kNetworkBandwidth}) {
    EXPECT_FALSE(pressures[static_cast<size_t>(rate)].ok());
  }
}

TEST_F(Formulas, StallsAndPagingAreRates) {
  EXPECT_DOUBLE_EQ(*stallShare(StallTimes{100, 0}, StallTimes{250'100, 0}, std::chrono::seconds(1)), 0.25);
  EXPECT_DOUBLE_EQ(*countsPerSecond(PagingCounts{5, 0}, PagingCounts{25, 0}, &PagingCounts::majorFaults,
                                    std::chrono::seconds(2)),
                   10);
}

}  // namespace tarcil::formulas_test
