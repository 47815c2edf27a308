// Who is on the servers where a plan would put tasks, and what that would do to them.
#pragma once

#include <string>
#include <vector>

#include "cli/cluster.h"
#include "core/decide/impact.h"
#include "core/decide/job_plan.h"

namespace tarcil {

struct AffectedTask {
  JobId job;
  JobNumber number = 0;
  TaskIndex task = 0;
  std::string server;
  Impact impact;
};

// Every task on the servers that the plan claims, whoever's it is, the worst hurt first. `profile` is the
// planned job's.
std::vector<AffectedTask> neighboursOf(Cluster& cluster, const JobPlan& plan, const Profile& profile);

}  // namespace tarcil
