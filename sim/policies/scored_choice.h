// The server with the highest score, as schedulers that people run give it. None looks at what runs there.
#pragma once

#include <memory>

#include "core/base/rng.h"
#include "sim/policies/server_choice.h"

namespace tarcil::sim {

// Of one server, the task in place.
struct Fill {
  uint32_t units = 1;     // that jobs may have
  uint32_t free = 0;      // of them
  uint32_t ofJob = 0;     // tasks of the same job there, besides
  uint32_t jobTasks = 1;  // of the job in all
};

using Score = double (*)(const Fill& fill);

// Kubernetes, NodeResourcesFit with the strategies MostAllocated and LeastAllocated: the part of the units
// that is taken, or free, in whole hundredths.
double mostAllocated(const Fill& fill);
double leastAllocated(const Fill& fill);

// Nomad's bin packing: BestFit v3 of Google (20 - 10^free cores - 10^free memory, from 0 to 18; a unit has
// both in proportion), and the mean of that and the anti-affinity of a job's tasks, where others are there.
double bestFit(const Fill& fill);

// All servers with the units free are scored, also where the originals look at some. Of the highest one by
// chance. O(servers) for each task.
std::unique_ptr<ServerChoice> highestScore(const World& world, Score score, Rng rng);

}  // namespace tarcil::sim
