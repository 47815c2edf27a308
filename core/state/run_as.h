// Whom the tasks of a submission run as. What else is checked of it: core/model/job_check.h.
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/model/job.h"
#include "core/state/caller.h"

namespace tarcil {

// The system user that the job's tasks run as: the one asked for, else the caller's default. kDenied, naming
// the users that the caller may choose from, where it is none of these.
Result<std::string> runAsFor(const JobSpec& spec, const Caller& caller);

// Whether the caller may have tasks run as this system user; kDenied as above.
Status checkRunAs(const std::string& runAs, const Caller& caller);

}  // namespace tarcil
