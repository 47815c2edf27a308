// What an operator sets for an agent process. Fixed while it runs.
#pragma once

#include <cstdint>

#include "core/base/time.h"

namespace tarcil {

struct AgentOptions {
  // Waiting jobs that one user may have at this agent; beyond, a submission is refused with "try again".
  uint32_t maxWaitingJobs = 10'000;
  // How long a submission waits for an unreachable master before it is refused as Unavailable.
  Duration masterPatience = std::chrono::seconds(10);
  // After this long without an acceptable slot the best feasible one is taken, where neither the job nor the
  // master (by how units came free) says for how long it is to wait.
  Duration waitBound = std::chrono::seconds(30);
  // Between tries to launch on a monitor that does not answer.
  Duration launchRetry = std::chrono::milliseconds(200);
  // Refused claims are sampled again at once this often; then the job waits for the state to change.
  uint32_t replans = 4;
};

}  // namespace tarcil
