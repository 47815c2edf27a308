// What an operator configures for an agent. Fixed while it runs.
#pragma once

#include <cstdint>

#include "core/base/time.h"

namespace tarcil {

struct AgentOptions {
  // Waiting jobs that one user may have at this agent; further submissions are refused with "try again".
  uint32_t maxWaitingJobs = 10'000;
  // How long a submission waits for an unreachable master before it is refused as Unavailable.
  Duration masterPatience = std::chrono::seconds(10);
  // How long a job waits for an acceptable slot before it takes the best feasible one, if neither the job nor
  // the master (from how units become free) sets a bound.
  Duration waitBound = std::chrono::seconds(30);
  // The first pause before a launch is sent again to a monitor that does not answer.
  Duration launchRetry = std::chrono::milliseconds(200);
  // How often in a row a job is planned again at once after a claim was refused; then it waits for an offer.
  uint32_t replans = 4;
};

}  // namespace tarcil
