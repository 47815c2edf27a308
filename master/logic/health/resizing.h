// Units that tasks have beyond those that their jobs ask for: given one by one while no job waits that could
// use them, and taken back when the task needs them no more. The master changes its tables when it gives a
// unit; one that is taken back is free only when the monitor has confirmed it.
#pragma once

#include "master/logic/health/violation_case.h"

namespace tarcil::master {

// Gives the task another unit of its server. False, and nothing is done, where its job allows no more, its
// monitor could not give it one before, none is free, or a waiting job could use it.
bool growTask(ViolationCase& violation);

// Asks for the extra units back; false where the task has none and awaits none.
bool shrinkTask(ViolationCase& violation);

// A monitor has given a task other units, or cannot.
void takeResized(EventContext& context, const TaskResized& event);

// Counts what the task has held beyond what it asked for as usage of its user, up to now.
void accountForExtraUnits(ViolationCase& violation);

// The task has extra units from now on that are not accounted for: they are, and it is asked to give them
// back after `calm`.
void watchExtraUnits(EventContext& context, AllocationId allocation, Duration calm);

// The task's monitor attaches: what was asked of it before counts no more, and it is told the units of a task
// that has extra ones.
void resumeResizing(ViolationCase& violation);

// The same for a task that is not known to have extra units: a store restored from a backup may not know of
// units that were given since.
void confirmUnits(EventContext& context, const Hold& hold);

// At a start: finds the tasks that have extra units.
void restoreExtraUnits(EventContext& context);

}  // namespace tarcil::master
