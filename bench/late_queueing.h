// A cluster of servers and agents that bind tasks late, or by a policy it is compared with, on a
// virtual clock.
#pragma once

#include <cstdint>
#include <vector>

#include "latebinding/late_job.h"

namespace tarcil::bench {

enum class Durations : uint8_t {
  kOfJob,     // one exponential duration for all tasks of a job
  kOfTask,    // each task its own
  kConstant,  // all the same
};

// As Sparrow simulates it (SOSP 2013, Fig. 3): Poisson arrivals, a constant delay of each message, an empty
// cluster to begin with.
struct QueueingSetup {
  late::LatePolicy policy = late::LatePolicy::kLateBinding;
  bool cancel = true;
  double probeRatio = 2;
  bool adaptRatio = false;
  uint32_t servers = 10'000, slots = 4, agents = 10;
  uint32_t tasksPerJob = 100;
  double meanMs = 100, delayMs = 0.5, load = 0.8;
  Durations durations = Durations::kOfJob;
  // Each task may run on so many servers of its own, drawn at random; 0: anywhere (section 4.1).
  uint32_t replicas = 0;
  uint64_t jobs = 30'000;
  double warmUpMs = 3'000;  // jobs that come before count for nothing
  uint64_t seed = 1;
};

struct QueueingResult {
  std::vector<double> responseMs, delayMs;  // by job; delay: response less the longest task
  uint64_t tasks = 0, messages = 0, vainAsks = 0;
  double load = 0;         // as it came out by chance, after the warm-up
  double ratio = 0;        // the probe ratio that the next job would get, at the last
  double processorNs = 0;  // of the whole simulation
};

QueueingResult simulate(const QueueingSetup& setup);

// One queue for all slots, whose state is known half a round trip late: what no scheduler can do better than.
QueueingResult simulateOmniscient(const QueueingSetup& setup);

}  // namespace tarcil::bench
