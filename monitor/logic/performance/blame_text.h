// The evidence for a cause in words, with its numbers: all in one place. Pure.
#pragma once

#include <string>

#include "monitor/logic/performance/blame.h"

namespace tarcil {

// Somebody presses on a resource.
struct PressureEvidence {
  Resource resource{};
  double pressure = 0;  // of this one
  bool measured = false;
  size_t tasks = 1;              // of its job, together
  double foreign = 0;            // of all but the task
  double tolerated = 0;          // by the task's profile
  std::optional<double> waited;  // share of the time that the task waited for the resource
};

std::string textOf(const PressureEvidence& evidence);
std::string textOfCores(const Feelings& feels);
std::string textOfMemoryLimit(const Feelings& feels);
std::string textOfHypervisor(double stolen);
// Of disk or network: the task's own traffic fills it.
std::string textOfOwnTraffic(const PressureEvidence& evidence);
std::string textOfUnknown();

}  // namespace tarcil
