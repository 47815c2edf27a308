// Readings of a quiet server with four cores, and changes of them, for tests of formulas.
#pragma once

#include "monitor/logic/pressure/formulas.h"

namespace tarcil {

// Hardware counters that all stand at 0.
inline HardwareCounts noCounts() {
  return {0, 0, 0, 0, 0, 0, 0};
}

// Everything measured, everything 0 but memory: 1000 bytes, of which 400 are not available.
inline PressureReading quietReading() {
  PressureReading reading;
  MachineCounters& machine = reading.machine;
  machine.cpu = CpuTimes{};
  machine.memory = MemoryUse{1000, 600, 0};
  machine.paging = PagingCounts{};
  machine.disks = std::map<Device, DiskCounts>{{{8, 0}, {}}};
  machine.network = TransferBytes{};
  machine.cpuStall = machine.memoryStall = machine.ioStall = StallTimes{};
  machine.hardware = noCounts();
  machine.cache = CacheUse{};
  CgroupCounters& tasks = reading.tasks;
  tasks.cpuMicros = uint64_t{0};
  tasks.memory = CgroupMemory{};
  tasks.disks = std::map<Device, TransferBytes>{};
  tasks.network = TransferBytes{};
  tasks.hardware = noCounts();
  tasks.cache = CacheUse{};
  return reading;
}

// A second later nothing has happened, on four cores that were idle.
inline PressureReading secondLater(PressureReading reading) {
  reading.when += std::chrono::seconds(1);
  reading.machine.cpu->idle += 400;
  return reading;
}

}  // namespace tarcil
