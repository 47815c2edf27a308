#include "monitor/logic/pressure/task_pressure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/monitor/pressure/readings.h"

namespace tarcil::task_pressure_test {

using testing::HasSubstr;

struct TaskPressure : testing::Test {
  TaskPressure() {
    taskBefore.when = before.when;
    taskAfter.when = after.when;
    taskBefore.counters.used = before.tasks;
    taskAfter.counters.used = before.tasks;
  }
  double of(Resource resource) {
    const auto pressures = taskPressure(before.machine, after.machine, taskBefore, taskAfter, capacities);
    const auto& one = pressures[static_cast<size_t>(resource)];
    return one.ok() ? *one : -1;
  }
  CgroupCounters& used() { return taskAfter.counters.used; }

  PressureReading before = quietReading();
  PressureReading after = secondLater(before);
  TaskReading taskBefore, taskAfter;
  Capacities capacities{1e6, 1e9, 1000};
};

TEST_F(TaskPressure, AnIdleTaskPutsNothingOnAnything) {
  for (int i = 0; i < kResources; ++i) EXPECT_EQ(of(static_cast<Resource>(i)), 0) << kResourceNames[i];
}

TEST_F(TaskPressure, IsWhatItUsedOfWhatThereIs) {
  after.machine.cpu = CpuTimes{200, 200, 0};
  HardwareCounts machine = noCounts(), task = noCounts();
  machine.cycles = 1e6;
  task.l1dMisses = 10'000;
  task.tlbMisses = 1'000;
  after.machine.hardware = machine;
  used().hardware = task;
  used().cpuMicros = uint64_t{1'000'000};  // 100 of 400 ticks
  used().cache = CacheUse{250, 300'000'000};
  used().memory = CgroupMemory{300, 100, 0};
  used().network = TransferBytes{100'000, 400'000};
  EXPECT_DOUBLE_EQ(of(Resource::kCore), 99 * 0.25);
  EXPECT_DOUBLE_EQ(of(Resource::kL1d), 99 * 0.14 / 2);
  EXPECT_DOUBLE_EQ(of(Resource::kTlb), 99 * 0.03 / 2);
  EXPECT_DOUBLE_EQ(of(Resource::kLlc), 99 * 0.25);
  EXPECT_DOUBLE_EQ(of(Resource::kMemoryBandwidth), 99 * 0.3);
  EXPECT_DOUBLE_EQ(of(Resource::kMemoryCapacity), 99 * 0.2);
  EXPECT_DOUBLE_EQ(of(Resource::kNetworkBandwidth), 99 * 0.4);
}

TEST_F(TaskPressure, DiskIsBusyTimeByTheShareOfItsBytes) {
  after.machine.disks = std::map<Device, DiskCounts>{{{8, 0}, {{600, 400}, 500}}};
  used().disks = std::map<Device, TransferBytes>{{{8, 0}, {200, 300}}};
  EXPECT_DOUBLE_EQ(of(Resource::kDiskBandwidth), 99 * 0.5 * 0.5);
}

TEST_F(TaskPressure, ADiskThatIsBusyForOthersIsNotItsDoing) {
  after.machine.disks = std::map<Device, DiskCounts>{{{8, 0}, {{}, 900}}};
  EXPECT_EQ(of(Resource::kDiskBandwidth), 0);
}

TEST_F(TaskPressure, BandwidthIsByMissesWhereResctrlIsMissing) {
  used().cache = notFound("no resctrl");
  HardwareCounts task = noCounts();
  task.llcMisses = 1e6;
  used().hardware = task;
  EXPECT_DOUBLE_EQ(of(Resource::kMemoryBandwidth), 99 * 0.064);
  EXPECT_EQ(of(Resource::kLlc), -1);
}

TEST_F(TaskPressure, WhatIsNotMeasuredIsAbsentWithItsReason) {
  used().hardware = notFound("no counters");
  used().network = notFound("no BPF");
  const auto pressures = taskPressure(before.machine, after.machine, taskBefore, taskAfter, capacities);
  EXPECT_EQ(pressures[static_cast<size_t>(Resource::kL2)].error().message, "no counters");
  EXPECT_EQ(pressures[static_cast<size_t>(Resource::kNetworkBandwidth)].error().message, "no BPF");
  EXPECT_TRUE(pressures[static_cast<size_t>(Resource::kCore)].ok());
}

TEST_F(TaskPressure, CoresUsedAreCpuTimePerTime) {
  used().cpuMicros = uint64_t{1'500'000};
  EXPECT_DOUBLE_EQ(*coresUsed(taskBefore, taskAfter), 1.5);
  EXPECT_FALSE(coresUsed(taskBefore, taskBefore).ok());
}

}  // namespace tarcil::task_pressure_test
