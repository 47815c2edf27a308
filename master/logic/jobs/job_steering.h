// What users do to jobs that have been submitted, besides cancelling them: hold, release, another priority.
#pragma once

#include "master/logic/tables.h"

namespace tarcil::master {

// NotFound for a job that is not there or that the caller may not steer; Invalid for a priority above 100.
// Nothing for a job that is over.
Status steerJob(EventContext& context, const JobSteered& event);

}  // namespace tarcil::master
