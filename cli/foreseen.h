// What would become of a job if it were submitted now.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/cluster.h"
#include "cli/output/decision.h"
#include "cli/output/neighbours.h"
#include "core/decide/job_plan.h"
#include "formats/job_file.h"
#include "formats/json.h"

namespace tarcil {

struct Foreseen {
  JobSpec spec;
  JobPlan plan;
  ServerNames servers;
  std::vector<AffectedTask> neighbours;  // the worst hurt first
  AfterOutlook outlook;

  size_t waiting() const { return spec.tasks - plan.claims.size(); }
};

// `file` is what messages call the job file. Failure as addStoredProfile (cli/submission.h) and findAfter
// (cli/after.h), and with kExitFailed where it may not name the jobs that it is to start after, or its
// secrets.
Foreseen foresee(Cluster& cluster, const std::string& file, JobFile job, uint64_t seed);

// As `plan --json` shows it.
Json jsonOf(const Foreseen& all);

}  // namespace tarcil
