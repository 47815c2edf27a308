// The hardware counters of a cgroup, or of the whole machine, on some cores.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "monitor/logic/pressure/hardware_events.h"

namespace tarcil {

// perf_event_open, for one cgroup or for everything. An event counts as long as the object lives.
class PerfSource {
 public:
  virtual ~PerfSource() = default;

  // Starts to count on this core. The event's number for read(); an Error with the kernel's reason.
  virtual Result<size_t> open(const HardwareEvent& event, uint32_t core) = 0;
  // nullopt: it cannot be read any more.
  virtual std::optional<RawCount> read(size_t event) = 0;
};

// `cgroup`: a directory of version 2, which counts with all below it; empty: everything on the machine.
std::unique_ptr<PerfSource> linuxPerf(const std::string& cgroup);

class HardwareCounters final {
 public:
  // Opens every event that the processor has on each of the cores. kNotFound, with the kernel's reason, where
  // it has neither cycles nor instructions: most virtual machines do not.
  static Result<HardwareCounters> open(std::unique_ptr<PerfSource> source,
                                       const std::vector<uint32_t>& cores);

  // Counts since open(). A counter without an event on this processor, or that got no turn yet, is nullopt.
  HardwareCounts read();

 private:
  struct Counted {
    std::optional<double> HardwareCounts::*counter;
    std::map<size_t, ScaledCount> events;  // by number, one for each core
  };

  HardwareCounters() = default;

  std::unique_ptr<PerfSource> source_;
  std::vector<Counted> counted_;
};

}  // namespace tarcil
