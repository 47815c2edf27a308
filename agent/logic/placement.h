// Looks for slots for a job's tasks on the copy of the state, and says why tasks get none.
#pragma once

#include <cstdint>
#include <span>

#include "agent/logic/tables.h"
#include "core/decide/chooser.h"

namespace tarcil::agent {

// What slots are judged by: the master's settings, without the margin while the cluster is crowded.
QualitySettings settingsNow(const Tables& tables);
// The same for the job as it is; without the margin too where it is offered servers that are reserved for it,
// for these were chosen without.
QualitySettings settingsFor(const Tables& tables, const Job& job);

// How slots are to be looked for.
struct PlacementOptions {
  QualitySettings settings;
  Standard standard = Standard::kAcceptable;
  size_t atMost = kMaxTasks;                        // tasks
  size_t candidates = Explanation::kMaxCandidates;  // in the explanation
  uint64_t seed = 0;
  std::span<const ServerId> except;  // servers reserved for other jobs, ascending
};

// What came of it.
struct PlacementAttempt {
  Decision decision;
  WaitReason reason;      // why some tasks would have to wait; empty where none would
  bool isCutOff = false;  // there would be slots for more tasks than `atMost`
};

// Decides for the job's placeable tasks on the copy as it is; changes only the chooser's memory. A job that
// does not say how long it may wait for a good slot prefers one with the margin, and does not wait for it.
// Requires: isReady().
PlacementAttempt attemptFor(const Tables& tables, const HeldJob& job, const PlacementOptions& options,
                            Chooser& chooser);

}  // namespace tarcil::agent
