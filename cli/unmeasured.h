// A job of an application that the cluster keeps no profile of, where the operator has such applications
// measured: what the job runs with meanwhile, and the job that measures.
#pragma once

#include <string>
#include <vector>

#include "cli/cluster.h"
#include "cli/output/server_details.h"
#include "core/base/result.h"
#include "formats/job_file.h"

namespace tarcil {

// What is assumed of an application until it has been measured (classifier/assumed_profile.h), by the
// applications that came with this executable.
Profile profileUntilMeasured(const std::string& application);

// The job that measures the application of `job`, which is its profile's: its command, with its environment,
// working folder, user and extras, run by a profiler that takes all units of one server. Pure. Invalid or
// NotFound, with what to do, where it cannot be measured so.
Result<JobSpec> measuringJob(const JobSpec& job, const std::vector<ServerDetails>& servers);

// Submits that job, with the same files and what the cluster knows to infer from, and says so on stderr; or
// why not, for instance since the application is being measured already: that is no failure of the job that
// was submitted.
void submitMeasuring(Cluster& cluster, const JobSpec& job, std::vector<InputFile> files);

}  // namespace tarcil
