// What users do to jobs that have been submitted: cancel, hold, release, another priority. Each is NotFound
// for a job that is not there or that the caller may not steer, and nothing for a job that is over.
#pragma once

#include "master/logic/tables.h"

namespace tarcil::master {

Status cancel(EventContext& context, const CancelRequested& event);

// Invalid for a priority above kMaxPriority.
Status steerJob(EventContext& context, const JobSteered& event);

}  // namespace tarcil::master
