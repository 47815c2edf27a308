// What would become of a job if it were submitted now: the checks and the decision of a submission, and then
// nothing.
#include <algorithm>
#include <set>

#include "agent/logic/agent_state.h"

namespace tarcil {

using namespace agent;

namespace {

std::vector<ServerName> namesOf(const Decision& decision, const ClusterState& state) {
  std::set<ServerId> servers;
  for (const Claim& claim : decision.claims) servers.insert(claim.server);
  for (const Candidate& candidate : decision.explanation.best) servers.insert(candidate.server);
  std::vector<ServerName> names;
  names.reserve(servers.size());
  for (ServerId id : servers) {
    names.push_back({id, std::string(state.name(id)), state.platformName(state.vacancy(id).platform)});
  }
  return names;
}

}  // namespace

Result<JobPlan> AgentLogic::plan(const Caller& caller, const JobSpec& spec, uint64_t seed) const {
  return state_->foresee(caller, spec, seed);
}

Result<JobPlan> AgentLogic::State::foresee(const Caller& caller, const JobSpec& spec, uint64_t seed) const {
  if (Result<std::string> runAs = accept(caller, spec, {}); !runAs) return runAs.error();
  if (!ready()) return Error{ErrorCode::kUnavailable, "the master is out of reach; try again"};
  if (Status status = admissible(spec, caller.user); !status) return status.error();
  const HeldJob job = HeldJob::submitted({.id = {}, .spec = spec, .user = caller.user, .runAs = {}});
  Chooser chooser;
  Attempt attempt = attemptFor(job,
                               {.settings = settingsNow(),
                                .candidates = JobPlan::kMaxCandidates,
                                .seed = seed,
                                .except = keptFrom(spec)},
                               chooser);
  if (attempt.reason.empty() && attempt.decision.claims.size() < spec.tasks) attempt.reason = heldBack(spec);
  JobPlan plan{.claims = {},
               .explanation = {},
               .waitReason = std::move(attempt.reason.text),
               .servers = namesOf(attempt.decision, copy.state()),
               .usableUnits = copy.usableUnits(),
               .freeUnits = copy.state().freeUnits()};
  plan.claims = std::move(attempt.decision.claims);
  plan.explanation = std::move(attempt.decision.explanation);
  plan.explanation.seed = seed;  // also where nothing was drawn
  std::sort(plan.claims.begin(), plan.claims.end(),
            [](const Claim& a, const Claim& b) { return a.task < b.task; });
  return plan;
}

}  // namespace tarcil
