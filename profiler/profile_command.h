// From a command to a profile: alone, then beside kernels at rising intensity until it falls below
// its target.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "classifier/kernels/machine.h"
#include "classifier/tolerance_search.h"
#include "profiler/calibrate.h"
#include "profiler/calibration.h"
#include "profiler/command_run.h"

namespace tarcil {

// What counts as a command's performance; more is better.
enum class Measure : uint8_t {
  kRuns,           // runs a second
  kProcessorTime,  // runs for each second of processor time: what waits for disks, networks or a core does
                   // not count, so that it is of use on a machine that is not quiet, for commands
                   // that compute
  kMetric,         // what the command reports
  kCounted,        // what is counted of it, in a second: it need not end
};

struct ProfileOptions {
  std::vector<std::string> command;
  size_t rus = 1;  // cores that the command gets
  ToleranceOptions search;
  std::vector<Resource> resources;  // to press on, in this order; as many as the budget allows
  // For everything after the first run. nullopt: what two or three runs beside each kernel take, at least
  // 10 s.
  std::optional<Seconds> budget;
  Seconds runAtMost{60};  // one run
  Measure measure = Measure::kRuns;
  std::string metric;                    // of kMetric: as CommandPlan
  CountedEvent counted = kInstructions;  // of kCounted
  std::string scratch = ".";
};

// How a command runs alone.
struct AloneRun {
  Seconds wall{};          // of the quickest run
  double performance = 0;  // by the measure; of the best quarter of runs
  double spread = 0;       // how far runs differ from that in the mean, relative to it
  uint32_t runs = 0;
  uint32_t leftProcesses = 0;
  uint64_t outputBytes = 0;
};

struct ResourceFinding {
  Resource resource = Resource::kCore;
  // Why it was not pressed on, for people; then there is no tolerance.
  std::optional<std::string> skipped;
  std::optional<Tolerance> tolerance;
  uint32_t probes = 0;
  // By how much the kernel at full pressure was slowed by the command, and what pressure does that; nullopt:
  // it tells nothing here.
  std::optional<double> kernelLost;
  std::optional<int> causedByKernel;
};

struct Findings {
  AloneRun alone;
  std::vector<ResourceFinding> resources;
  // What one task causes: from its own use of cores, memory and disks, and from what kernels lost beside it.
  std::array<std::optional<uint8_t>, kResources> caused{};
  std::array<std::optional<uint8_t>, kResources> tolerated{};
  Seconds took{};
};

// Runs the command many times. Errors: NotFound: it cannot be started; Invalid: it fails, takes too long,
// reports no metric, or the budget is too small: what was seen and what to do. Nothing is left running.
// Requires: the calling process has no other threads; `calibration` has the resources that are pressed on.
Result<Findings> profileCommand(const Machine& machine, const Calibration& calibration,
                                const ProfileOptions& options, const Progress& progress);

// How the command runs alone, and no more: it may have every core. Errors and requirements as of the former.
Result<AloneRun> performanceAlone(const Machine& machine, const ProfileOptions& options,
                                  const Progress& progress);

// Pressure by use alone: what the command used of all cores, of the memory, and of what disks can do.
std::array<std::optional<uint8_t>, kResources> causedByUse(const CommandOutcome& run, const Machine& machine,
                                                           const Calibration& calibration);

}  // namespace tarcil
