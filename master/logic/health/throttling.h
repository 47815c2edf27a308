// Tasks that slow down a degraded task on their server, and may use less of it for a while (CPI2, Zhang et
// al., EuroSys 2013, section 5, caps the CPU time of antagonists in the same way). Which ones may be
// throttled, their jobs say (`yields`; `preemptible` with a priority below that of the task that suffers),
// and whether any is, the operator (QualitySettings::throttling).
//
// A task is throttled at once so far that the other one has its share back, and eased in steps, each twice as
// much as the one before, when no task of the server has fallen short for a while; the while doubles when the
// violation comes back. Not stored: a monitor throttles for as long as it is connected, and is told again
// after each attach; a master that has started begins anew with the violations that monitors repeat.
#pragma once

#include "master/logic/health/violation_case.h"

namespace tarcil::master {

// The least that a task is throttled to. Something, so that it keeps its connections and locks; little enough
// that two such tasks on a core leave another one 95 % of it.
inline constexpr double kLeastShare = 0.02;

// Throttles the tasks of the likeliest neighbour that may be throttled further, if that is likely enough to
// matter. False, and nothing is done, where there is none or the settings do not allow it; a preview is
// logged once.
bool throttleNeighbour(ViolationCase& violation);

// Whether the task is throttled now: then it falls short because of that.
bool isThrottled(const Tables& tables, AllocationId allocation);
// As its monitor was told last.
Throttle throttleOf(const Tables& tables, AllocationId allocation);

// Whether a task of the server falls short that is not throttled itself.
bool hasViolation(const Tables& tables, const Server& server);

// A monitor has throttled a task, or cannot.
void takeThrottled(EventContext& context, const TaskThrottled& event);

// Eases the tasks whose time has come.
void easeDueThrottles(EventContext& context);

// The server's monitor attaches: it is told again.
void resumeThrottles(EventContext& context, const Server& server);

}  // namespace tarcil::master
