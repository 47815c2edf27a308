// What would happen to a job if it were submitted now: the checks and the decision of a
// submission, without effect.
#pragma once

#include "agent/logic/tables.h"
#include "core/decide/job_plan.h"

namespace tarcil::agent {

// As AgentLogic::plan().
Result<JobPlan> forecast(const Tables& tables, const Caller& caller, const JobSpec& spec, uint64_t seed);

}  // namespace tarcil::agent
