// Profiling in a container: `tarcil profile run` on a server of the cluster that does nothing else meanwhile.
#pragma once

#include <string>
#include <vector>

#include "cli/cluster.h"
#include "cli/json.h"
#include "cli/server_details.h"

namespace tarcil {

// What `tarcil profile run` found, in each form that it can be asked for.
struct ProfileForms {
  Json json;
  std::string text;
  std::string yaml;  // a profile file
};

// All in one, as the profiler hands it to whoever started its container.
Json jsonOf(const ProfileForms& forms);

// The servers of the cluster, without their tasks.
std::vector<ServerDetails> serversOf(Cluster& cluster);

// Where a profiler in a container finds what to infer from, beside the command's own files.
inline constexpr const char* kShippedApplications = ".tarcil/known-applications.yaml";

// What the cluster knows (knownApplications) without the application that is measured, as that file.
InputFile knownToCluster(Cluster& cluster, const std::string& application);

// What a task runs to profile this command.
std::vector<std::string> profilerCommand(const std::vector<std::string>& flags,
                                         const std::vector<std::string>& command);

struct ClusterProfiling {
  std::vector<std::string> flags;    // of the profiler
  std::vector<std::string> command;  // that is profiled
  std::vector<InputFile> files;      // that the command needs in its working directory
  uint32_t cores = 1;                // that the command gets
  std::string server;                // to measure on; empty: any that can
  std::string name;                  // of the job
};

struct ClusterProfile {
  ProfileForms forms;            // the JSON with the key `server`, too
  std::string server, platform;  // where it was measured
};

// Runs a job that takes all units of one server, and waits for it. The profiler's progress and warnings come
// on stderr. SIGINT and SIGTERM cancel the job. Failure with the profiler's exit code where it fails, with
// kExitFailed where there is no server for it or the job does not end by itself.
// Requires: SIGINT and SIGTERM were captured (kj::UnixEventPort) before `cluster` was made.
ClusterProfile profileOnCluster(Cluster& cluster, const ClusterProfiling& profiling);

}  // namespace tarcil
