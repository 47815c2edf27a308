// What monitors report of the performance of tasks.
#pragma once

#include <optional>

#include "master/logic/tables.h"

namespace tarcil::master {

// Takes the reports on tasks of servers that the monitor's current session stands for, but for those whose
// numbers make no sense (not finite, negative, nothing expected); causes with such a weight are left out. A
// violation that is new teaches about the profile of its application (learning.h), and the first step for its
// task is taken.
void takeViolations(EventContext& context, const ViolationsReported& event);

// What watched tasks reach is remembered until their attempts end, and of each the last alone.
void takePerformance(EventContext& context, const PerformanceReported& event);

// The task's violation, for people; nullopt where it performs as expected.
std::optional<TaskViolation> violationOf(const Tables& tables, const Hold& hold);

}  // namespace tarcil::master
