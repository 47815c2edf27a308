// From the counters of one task to the pressures that it puts on its server: what it used of what there
// is. Pure.
//
// The formulas are those of the background (monitor/logic/pressure/formulas.h), with what one task used in
// place of what the tasks leave unexplained.
#pragma once

#include "monitor/logic/pressure/formulas.h"

namespace tarcil {

// One reading of a task. Requires: read at about the same moment as the server's.
struct TaskReading {
  MonotonicTime when{};
  TaskCounters counters;
};

// What the task puts on each resource of the server, in the order of the resources.
MeasuredPressure taskPressure(const MachineCounters& machineBefore, const MachineCounters& machineAfter,
                              const TaskReading& before, const TaskReading& after,
                              const Capacities& capacities);

// Cores that it used, on average.
Result<double> coresUsed(const TaskReading& before, const TaskReading& after);

}  // namespace tarcil
