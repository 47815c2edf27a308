// Random clusters, and random jobs of all kinds for them: whatever a job file can ask for comes up, but for
// containers.
#pragma once

#include <vector>

#include "core/base/rng.h"
#include "core/base/time.h"
#include "core/model/job.h"
#include "sim/faults/virtual_cluster.h"

namespace tarcil::sim {

// One to four agents, one to five monitors of one to three servers each; platforms, racks, attributes and
// countable things by chance; grace periods and bounds that are short beside the rest.
VirtualClusterOptions randomCluster(uint64_t seed, Log log);

// The master with one bound of a few jobs: for the unfinished ones of a user or in all, their memory, their
// tasks, or history.
MasterOptions withShortQueues(MasterOptions options, Rng& rng);

struct MixedJob {
  JobSpec spec;
  std::vector<InputFile> files;
  bool isEndless = false;  // it ends only when it is cancelled, or perhaps when it is let go
};

// Most of them can run on such a cluster.
MixedJob mixedJob(const VirtualClusterOptions& cluster, WallTime now, Rng& rng);

// Makes it a job over a list. TaskChecker knows what its tasks are to find in their environment.
void giveItems(JobSpec& spec);
inline constexpr const char* kWhich = "WHICH";
std::string whichOf(TaskIndex task);

// Any pressure on some resources, none on the others.
Pressure randomPressure(Rng& rng);

}  // namespace tarcil::sim
