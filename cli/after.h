// The jobs that a new one is to start after: from the words of its user to those of the cluster.
#pragma once

#include <string>

#include "cli/cluster.h"
#include "formats/job_file.h"

namespace tarcil {

// Adds what --after says, as in "ok:4711,any:name:sort,4712" (4712 is to be done), to what the file says.
// Failure with kExitBadInput where there is more than one job for `each`.
void addAfter(const std::string& flag, NamedAfter& after);

// Looks up the jobs that `job.after` names. Failure with kExitBadInput where one names none or several, with
// its place in `file`.
void findAfter(Cluster& cluster, const std::string& file, JobFile& job);

}  // namespace tarcil
