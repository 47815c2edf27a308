// News of one job for its agent, joined while they wait to be sent.
#pragma once

#include "core/state/job_state.h"

namespace tarcil {

// Makes `waiting` equivalent to itself followed by `news`. It lists at most twice as many tasks as the job
// has. Amortised O(tasks in `news` * log(tasks of the job)).
void join(JobAssignment& waiting, JobAssignment news);

}  // namespace tarcil
