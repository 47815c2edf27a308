#include "agent/logic/forecast.h"

#include <algorithm>
#include <set>

#include "agent/logic/offers.h"
#include "agent/logic/placement.h"
#include "agent/logic/submissions.h"

namespace tarcil::agent {
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

Result<JobPlan> forecast(const Tables& tables, const Caller& caller, const JobSpec& spec, uint64_t seed) {
  if (Result<std::string> runAs = accept(tables, caller, spec, {}); !runAs) return runAs.error();
  if (!isReady(tables)) return Error{ErrorCode::kUnavailable, "the master is out of reach; try again"};
  if (Status status = admissible(tables, spec, caller.user); !status) return status.error();
  const HeldJob job = HeldJob::submitted({.id = {}, .spec = spec, .user = caller.user, .runAs = {}});
  Chooser chooser;
  const PlacementOptions options{.settings = settingsNow(tables),
                                 .candidates = JobPlan::kMaxCandidates,
                                 .seed = seed,
                                 .except = reservedForOthers(tables, spec)};
  PlacementAttempt attempt = attemptFor(tables, job, options, chooser);
  const bool isComplete = attempt.decision.claims.size() == spec.tasks;
  if (attempt.reason.empty() && !isComplete) attempt.reason = atItsConcurrency(spec);
  JobPlan plan{.claims = {},
               .explanation = {},
               .waitReason = std::move(attempt.reason.text),
               .servers = namesOf(attempt.decision, tables.copy.state()),
               .usableUnits = tables.copy.state().all().usableUnits(),
               .freeUnits = tables.copy.state().all().freeUnits()};
  plan.claims = std::move(attempt.decision.claims);
  plan.explanation = std::move(attempt.decision.explanation);
  plan.explanation.seed = seed;  // also if nothing was drawn
  std::sort(plan.claims.begin(), plan.claims.end(),
            [](const Claim& a, const Claim& b) { return a.task < b.task; });
  return plan;
}

}  // namespace tarcil::agent
