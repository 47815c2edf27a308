// Reads the counters of one task.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "monitor/logic/pressure/task_pressure.h"
#include "monitor/pressure/cgroup_reader.h"
#include "monitor/pressure/hardware_counters.h"
#include "monitor/pressure/traffic_counter.h"

namespace tarcil {

// Keeps descriptors open: a dozen, and one for each hardware event on each core.
class TaskReader final {
 public:
  // What the task puts on its server, and also what it feels.
  enum class What : uint8_t { kUse, kAll };

  // Descriptors of one on so many cores, at most.
  static size_t descriptors(size_t cores) { return 16 + 8 * cores; }

  // `task`: its cgroups. `cores`: those that it may use, for hardware counters. `interfaces`: indexes of
  // those whose packets count.
  TaskReader(CgroupDirectories task, const std::vector<uint32_t>& cores,
             const std::vector<uint32_t>& interfaces);

  // Everything but resctrl; by kUse, what the task feels is left out.
  TaskReading read(What what, MonotonicTime now);

 private:
  enum class Version : uint8_t { kNone, kV1, kV2 };
  Reading<MemoryLimit> readLimit();

  const Version limits_;
  CgroupReader used_;
  KeptFile limit_, hits_, oom_;  // version 2 has the latter two in one: hits_
  KeptFile cpuStall_, memoryStall_, ioStall_;
  const bool stalls_;
  Result<TrafficCounter> traffic_;
  Result<HardwareCounters> hardware_;
};

// Only the CPU time of a task: what watching it costs as long as all is well.
class TaskClock final {
 public:
  explicit TaskClock(const CgroupDirectories& task);

  Reading<uint64_t> cpuMicros();

 private:
  const bool unified_;
  KeptFile file_;
};

}  // namespace tarcil
