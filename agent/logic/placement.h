// Finds slots for a job's tasks on the copy of the state, and the reason where tasks get none.
#pragma once

#include <cstdint>
#include <span>

#include "agent/logic/tables.h"
#include "core/decide/chooser.h"

namespace tarcil::agent {

// How slots are judged: the master's settings, without the margin while the cluster is crowded.
QualitySettings settingsNow(const Tables& tables);
// The same for this job; without the margin also if its offer includes reserved servers, because these were
// chosen without it.
QualitySettings settingsFor(const Tables& tables, const Job& job);

struct PlacementOptions {
  QualitySettings settings;
  Standard standard = Standard::kAcceptable;
  size_t atMost = kMaxTasks;                        // tasks to place
  size_t candidates = Explanation::kMaxCandidates;  // to keep in the explanation
  uint64_t seed = 0;
  std::span<const ServerId> except;  // servers reserved for other jobs, ascending
};

struct PlacementAttempt {
  Decision decision;
  WaitReason reason;      // why some tasks have to wait; empty if none has to
  bool isCutOff = false;  // `atMost` tasks were placed, and there may be slots for more
};

// Decides for the job's placeable tasks on the current copy; changes only the chooser's memory. A job without
// a max_wait of its own prefers slots with the margin, but does not wait for them. Requires: isReady().
PlacementAttempt attemptFor(const Tables& tables, const HeldJob& job, const PlacementOptions& options,
                            Chooser& chooser);

}  // namespace tarcil::agent
