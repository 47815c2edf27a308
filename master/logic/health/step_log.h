// What was done for degraded tasks and why, listed with their jobs for people to read.
#pragma once

#include <string>

#include "master/logic/health/violation_case.h"

namespace tarcil::master {

// Adds a step to the job's list, from which the oldest go when there are too many.
void logStep(const EventContext& context, Job& job, TaskIndex task, std::string text);
void logStep(const ViolationCase& violation, std::string text);

// "sort (job 12345678)", and "task 3 of sort (job 12345678)".
std::string titleOf(const Job& job);
std::string titleOf(const Hold& hold);

// "1 unit", "2 units".
std::string unitsText(size_t units);

// Title of the neighbour that the cause names; empty where it names none, or it is gone.
std::string neighbourOf(const Tables& tables, const Cause& cause);

// How far the task falls short, and the likeliest cause: "performs at 50% of what is expected; ...".
std::string reasonOf(const ViolationCase& violation);

}  // namespace tarcil::master
