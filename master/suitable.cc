#include "master/suitable.h"

#include <algorithm>

#include "core/decide/chooser.h"
#include "core/model/constraint.h"
#include "core/state/commit_check.h"

namespace tarcil::master {

bool isSuitable(const Server& server, const JobSpec& spec) {
  if (!server.status.up || server.status.cordoned) return false;
  if (spec.placement.constraints.empty()) return true;
  const auto attributes = constraintAttributes(server.record.facts);
  return std::ranges::all_of(spec.placement.constraints, [&attributes](const Constraint& constraint) {
    return meets(constraint, attributes);
  });
}

uint64_t placesWhenEmpty(const Server& server, const JobSpec& spec) {
  return isSuitable(server, spec) ? server.record.facts.rus / spec.rusPerTask : 0;
}

uint64_t freePlaces(const Server& server, const JobSpec& spec) {
  return isSuitable(server, spec) ? server.status.free.size() / spec.rusPerTask : 0;
}

Claim freshClaim(const Server& server, uint32_t rus) {
  Claim claim;
  claim.server = server.record.id;
  claim.rus = rus;
  claim.versionSeen = UINT64_MAX;
  return claim;
}

Judging judgingWithoutMargin(const JobSpec& spec, const QualitySettings& settings) {
  Judging judging = judgingFor(spec, settings);
  judging.margin = 0;
  return judging;
}

Verdict verdictOn(const JobSpec& spec, const QualitySettings& settings, const Server& server,
                  const Claim& claim) {
  return checkClaim(claim, judgingWithoutMargin(spec, settings), spec.extras, server.record.facts,
                    server.status, server.share);
}

}  // namespace tarcil::master
