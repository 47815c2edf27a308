// A task that runs the profiler, `tarcil profile run`, on a server of the cluster: its command, and what it
// infers from.
#pragma once

#include <string>
#include <vector>

#include "classifier/completion.h"
#include "cli/cluster.h"
#include "core/model/job.h"

namespace tarcil {

// Where a profiler in a container finds what to infer from, beside the command's own files.
inline constexpr const char* kShippedApplications = ".tarcil/known-applications.yaml";

// What the cluster knows (knownApplications) without the application that is measured; and as that file.
std::vector<PartialProfile> knownToCluster(Cluster& cluster, const std::string& application);
InputFile fileOf(const std::vector<PartialProfile>& known);

// What a task runs to profile this command.
std::vector<std::string> profilerCommand(const std::vector<std::string>& flags,
                                         const std::vector<std::string>& command);

}  // namespace tarcil
