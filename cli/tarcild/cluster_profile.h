// Profiling in a container: `tarcil profile run` on a server of the cluster that does nothing else meanwhile.
#pragma once

#include <string>
#include <vector>

#include "cli/cluster.h"
#include "cli/tarcild/profile_platforms.h"
#include "formats/json.h"

namespace tarcil {

// All in one, as the profiler hands it to whoever started its container.
Json jsonOf(const ProfileForms& forms);

struct ClusterProfiling {
  std::vector<std::string> flags;     // of the profiler
  std::vector<std::string> command;   // that is profiled
  std::vector<InputFile> files;       // that command and profiler need in their working directory
  std::vector<PartialProfile> known;  // to infer from
  uint32_t cores = 1;                 // that the command gets
  std::string server;                 // to measure on; empty: any that can
  uint32_t platforms = 1;             // to measure its performance on, at least 1
  std::string name;                   // of the jobs
};

struct ClusterProfile {
  ProfileForms forms;            // the JSON with the key `server`, too
  std::string server, platform;  // where all of it was measured
};

// Runs a job that takes all units of one server, and waits for it; then, one after the other, jobs that run
// the command alone on servers of other platforms. One that fails is a warning, and its platform is left out.
// What of other platforms can be inferred from known applications is. The profiler's progress and warnings
// come on stderr. SIGINT and SIGTERM cancel the job, and nothing is returned. Failure with the profiler's
// exit code where it fails, with kExitFailed where there is no server for it or the job does not end by
// itself.
// Requires: SIGINT and SIGTERM were captured (kj::UnixEventPort) before `cluster` was made.
ClusterProfile profileOnCluster(Cluster& cluster, const ClusterProfiling& profiling);

}  // namespace tarcil
