// The jobs of a simulation, whoever made them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/event_queue.h"

namespace tarcil::sim {

using JobNumber = uint32_t;          // by arrival, from 0
using TaskNumber = uint32_t;         // over all jobs; those of a job follow one another
using ApplicationNumber = uint16_t;  // what a ground truth knows an application by

struct SimJob {
  SimTime arrival{};
  TaskNumber firstTask = 0;
  uint32_t tasks = 1;
  uint32_t rus = 1;  // units of each task
  ApplicationNumber application = 0;
  uint8_t priority = 50;
  uint8_t stream = 0;   // of those that the workload is made of; each is a user of its own
  uint16_t shares = 1;  // of that user beside others of the same priority
  // For how long it waits for a good place before it takes the best there is; else the policy's bound.
  std::optional<Duration> maxWait{};
  bool isCounted = true;  // else it only keeps units busy, and says nothing of how jobs fare

  bool operator==(const SimJob&) const = default;
};

struct Workload {
  std::vector<SimJob> jobs;    // by arrival
  std::vector<Duration> work;  // of each task: how long it runs alone on its best platform; above 0
  // Of each task the part of the speed at which it really runs, for reasons that nobody knows; in (0, 1].
  // Empty: all of it.
  std::vector<double> pace{};

  // Adds a job whose tasks are given; its firstTask and tasks are set here. Requires: arrivals do not fall.
  void add(SimJob job, const std::vector<Duration>& tasks);
  void add(SimJob job, uint32_t tasks, Duration each);

  // The longest of its tasks: what the job takes if nothing holds it up.
  Duration longest(const SimJob& job) const;
  // Units times how long they are held, of all tasks at full speed, in seconds.
  double ruSeconds() const;
};

}  // namespace tarcil::sim
