// A task that runs the profiler, `tarcil profile`, on a server of the cluster: its job, its command, and what
// it infers from.
#pragma once

#include <string>
#include <vector>

#include "classifier/completion.h"
#include "cli/cluster.h"
#include "core/model/job.h"
#include "core/state/server.h"

namespace tarcil {

// Where a profiler in a container finds what to infer from, beside the command's own files.
inline constexpr const char* kShippedApplications = ".tarcil/known-applications.yaml";

// What the cluster knows (knownApplications) without the application that is measured; and as that file.
std::vector<PartialProfile> knownToCluster(Cluster& cluster, const std::string& application);
InputFile fileOf(const std::vector<PartialProfile>& known);

// A job whose one task has the server to itself and runs `tarcil profile` with these words: "run" and what it
// is told, or "calibrate".
JobSpec profilerJob(const std::string& name, const ServerFacts& server,
                    const std::vector<std::string>& words);

// What the profiler is told to profile this command.
std::vector<std::string> profilerWords(const std::vector<std::string>& flags,
                                       const std::vector<std::string>& command);
// What a task runs to do that.
std::vector<std::string> profilerCommand(const std::vector<std::string>& flags,
                                         const std::vector<std::string>& command);

}  // namespace tarcil
