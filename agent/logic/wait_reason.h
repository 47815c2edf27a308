// Why tasks of a job have no slot, as its user is told.
#pragma once

#include <cstdint>
#include <string>

#include "core/decide/chooser.h"
#include "core/model/job.h"
#include "core/state/explain.h"

namespace tarcil::agent {

struct WaitReason {
  // Which of the reasons it is. Users are told again only when this changes: numbers in the text vary
  // all the time.
  std::string kind;
  std::string text;

  bool empty() const { return kind.empty(); }
  bool operator==(const WaitReason&) const = default;
};

// Of the servers that suit a job: those that are up and not cordoned are usable.
struct Units {
  uint64_t usable = 0;   // free or not
  uint64_t free = 0;     // after this decision's claims, with memory, disk and extras for a task
  uint64_t lacking = 0;  // free before it, without those
  bool suitsAll = true;  // they are all that there are
  // Servers, where no unit is usable.
  uint32_t down = 0, cordoned = 0, quarantined = 0;
};

// Why `left` > 0 tasks have no slot. `decision` is null if nothing was sampled, because too few units are
// free whatever their quality.
WaitReason whyWaiting(const JobSpec& spec, size_t left, Units units, const Decision* decision);

// Why tasks that require servers of their own have no slot: the first of them, of whose servers these units
// are.
WaitReason whyRequiring(const JobSpec& spec, const Decision& decision, Units units);

// As many tasks have slots as its concurrency allows.
WaitReason atItsConcurrency(const JobSpec& spec);

// So many free units are reserved for jobs that come before it.
WaitReason reservedForAnother(uint64_t units);

// Jobs that have waited longer are tried first.
WaitReason waitsForOffer();

// Slots were found, but other agents claimed them first, as often as the agent tries at once.
WaitReason outrun();

}  // namespace tarcil::agent
