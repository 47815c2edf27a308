// Why tasks of a job have no slot, in words for its user.
#pragma once

#include <cstdint>
#include <string>

#include "core/model/job.h"
#include "core/state/explain.h"

namespace tarcil::agent {

struct WaitReason {
  // Which of the reasons it is. News for the user only where this changes: numbers in the text vary all the
  // time.
  std::string kind;
  std::string text;

  // Not waiting.
  bool empty() const { return kind.empty(); }
  bool operator==(const WaitReason&) const = default;
};

// Units of the servers that are up and not cordoned, and those of them that are free after this decision's
// claims.
struct Units {
  uint64_t usable = 0;
  uint64_t free = 0;
};

// Why `left` > 0 tasks were left without a slot. `decision` is null where nothing was sampled, because too
// few units are free whatever their quality.
WaitReason whyWaiting(const JobSpec& spec, size_t left, Units units, const Explanation* decision);

// Every task that its concurrency lets run at once has a slot; the others follow.
WaitReason heldBack(const JobSpec& spec);

// So many free units are kept for a job ahead of it: one that has waited for long, or that others are ended
// for.
WaitReason keptForAnother(uint64_t units);

// Others that waited before are tried first.
WaitReason whenOffered();

// Slots were found and given to others first, as often as the agent tries at once.
WaitReason outrun();

}  // namespace tarcil::agent
