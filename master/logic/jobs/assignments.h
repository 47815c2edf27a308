// News of one job, joined while they wait to be sent.
#pragma once

#include "core/state/job_state.h"

namespace tarcil {

// `waiting` says afterwards what it and then `news` say to who hears both. It lists at most twice as many
// tasks as the job has. Amortised O(tasks in `news` * log(tasks of the job)).
void join(JobAssignment& waiting, JobAssignment news);

}  // namespace tarcil
