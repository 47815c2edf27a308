// Why a job's tasks are where they are.
#pragma once

#include <vector>

#include "cli/cluster.h"
#include "cli/output/decision.h"
#include "cli/output/job_status.h"
#include "formats/json.h"

namespace tarcil {

struct Explained {
  JobStatus job;
  std::vector<DecisionRecord> decisions;  // oldest first
  ServerNames servers;
};

// Fails as NotFound where the cluster's state has no such job: it may be bound late (cli/late_job.h).
Explained fetchExplained(Cluster& cluster, const JobId& id);

// As `job explain --json` shows it.
Json jsonOf(const Explained& all);

}  // namespace tarcil
