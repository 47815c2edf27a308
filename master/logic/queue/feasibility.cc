#include "master/logic/queue/feasibility.h"

#include "core/decide/margin.h"
#include "core/state/commit_check.h"

namespace tarcil::master {

bool isFeasible(const Server& server, const JobSpec& spec) {
  return server.status.up && !server.status.cordoned &&
         meets(server.record.facts, spec.placement.constraints);
}

uint64_t slotsWhenEmpty(const Server& server, const JobSpec& spec) {
  return isFeasible(server, spec) ? server.record.facts.rus / spec.rusPerTask : 0;
}

uint64_t freeSlots(const Server& server, const JobSpec& spec) {
  return isFeasible(server, spec) ? server.status.free.size() / spec.rusPerTask : 0;
}

Claim freshClaim(const Server& server, uint32_t rus) {
  Claim claim;
  claim.server = server.record.id;
  claim.rus = rus;
  claim.versionSeen = UINT64_MAX;
  return claim;
}

Verdict verdictOn(const JobSpec& spec, const QualitySettings& settings, const Server& server,
                  const Claim& claim) {
  return checkClaim(claim, judgingWithoutMargin(spec, settings), spec, server.record.facts, server.status,
                    server.share);
}

}  // namespace tarcil::master
