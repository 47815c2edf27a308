// A recording as a simulation: the cluster, its jobs with how much each task had to do, and how they fared.
#pragma once

#include <memory>
#include <vector>

#include "sim/ground_truth/ground_truth.h"
#include "sim/replay/recording.h"
#include "sim/workload/workload.h"
#include "sim/world.h"

namespace tarcil::sim {

struct Replay {
  std::vector<SimServer> servers;
  std::vector<Pressure> backgrounds;  // by server
  Belief belief;                      // what the recorded cluster knew
  // Jobs that are not whole are not counted: of those that were there before, what ran from the beginning of
  // the recording; of those that went on, what ran up to its end.
  Workload workload;
  // How each job of the workload really fared. Of jobs that are not counted nothing.
  std::vector<JobOutcome> outcomes;
  std::vector<float> qualities;  // of the counted jobs' tasks
  double utilisation = 0;        // from the first arrival to the last
  size_t simplified = 0, neverRan = 0, uncounted = 0;
};

// Whether tasks slow one another down, as their profiles say (ProfiledTruth), or nothing but queueing counts.
enum class ReplayTruth : uint8_t { kProfiles, kNone };

// How much a task had to do is found by going through what ran together on its server, and when: with the
// same truth and the same placements each task would take as long as it did. A workload without jobs where
// nothing ran. Requires: of every task ended >= started; places and units that are there.
Replay replayOf(const Recording& recording, ReplayTruth truth);

}  // namespace tarcil::sim
