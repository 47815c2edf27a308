// What came of a run, in numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/moment.h"
#include "sim/scenario.h"
#include "sim/world.h"

namespace tarcil::sim {

// Of many values.
struct Spread {
  double mean = 0, p5 = 0, p25 = 0, p50 = 0, p75 = 0, p95 = 0, p99 = 0;
};
struct Low {
  double mean = 0, p5 = 0, p1 = 0;
};

// How the jobs of one stream fared.
struct StreamSummary {
  std::string name;
  size_t jobs = 0;  // counted
  Spread responseMs;
  double performance = 0;  // mean
};

// One run of one policy.
struct Summary {
  PolicyName policy{};
  uint64_t seed = 0;
  uint32_t servers = 0;
  uint64_t rus = 0;
  size_t jobs = 0;        // counted: those of the warm-up are not
  size_t unfinished = 0;  // of all: jobs that never ended; counted nowhere else
  double load = 0;        // offered
  double utilisation = 0;
  Spread responseMs;  // from the arrival of a job to the end of its last task
  Spread idealMs;     // the same with no delay on the best resources: its longest task
  Spread delayMs;     // response less ideal
  Low performance;    // ideal / response
  // Response under the policy ideal / response, job by job; where that policy ran with the same seed.
  std::optional<Low> ofIdealPolicy;
  double atLeast95 = 0;  // part of the jobs whose performance is at least 0.95
  Low quality;           // of tasks: how fast they ran, relative to alone on the best platform
  Spread waitMs;         // of a job's tasks on average, from its arrival to their start
  // Part of the jobs that ended no later than one and a half round trips after the ideal: they waited for
  // nothing but the messages of a probe.
  double atOnce = 0;
  Low residentQuality;                 // how fast residents ran, of alone on their servers
  std::vector<StreamSummary> streams;  // of the workload's streams, in their order
  std::vector<Moment> moments;
  Spread decisionUs;
  uint64_t conflicts = 0, violations = 0;
  uint64_t events = 0;
  double simulatedSeconds = 0;
  // For plots: performance of the counted jobs, and the quality of tasks, ascending.
  std::vector<float> performances, qualities;
  std::vector<float> responses;  // of the jobs that are to be counted, in their order, in ms; 0: never ended
};

// How jobs fared, in the simulation or before.
struct Fates {
  const Workload& workload;
  const std::vector<JobOutcome>& outcomes;
  std::vector<float> qualities;    // of tasks; empty where they ran at full speed
  std::vector<float> ofResidents;  // their qualities
};

// Sets all that follows from the fates of jobs.
void summarise(Fates fates, const Scenario& scenario, Summary& summary);

// First of the jobs that are counted: those before it are the warm-up.
size_t firstCounted(const Scenario& scenario, const Workload& workload);

Spread spreadOf(std::vector<float> values);

// Part of all units that the jobs would hold from the beginning to the last arrival.
double loadOf(const Workload& workload, uint64_t units);

// Of no run: only the mean of the performance is known, all else is not a number.
Summary boundSummary(double performance);

// Sets ofIdealPolicy. Requires: runs of one scenario.
void compareWithIdealPolicy(std::vector<Summary>& runs);

}  // namespace tarcil::sim
