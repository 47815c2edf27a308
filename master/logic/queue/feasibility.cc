#include "master/logic/queue/feasibility.h"

#include <algorithm>

#include "core/decide/margin.h"
#include "core/state/commit_check.h"

namespace tarcil::master {

namespace {

// Where so many units are free and so much of memory and disk is taken.
uint64_t slots(const Server& server, const JobSpec& spec, uint64_t units, const ByteResources& allocated) {
  if (!isFeasible(server, spec)) return 0;
  const ByteSupply supply = byteSupplyOf(server.record.facts);
  const ByteResources each = claimed(spec.byteRequest(), spec.rusPerTask, supply);
  return std::min(units / spec.rusPerTask, timesFitting(supply.allocatable, allocated, each));
}

}  // namespace

bool isFeasible(const Server& server, const JobSpec& spec) {
  return server.status.up && !server.status.cordoned &&
         meets(server.record.facts, spec.placement.constraints);
}

bool isFeasible(const Server& server, const JobSpec& spec, TaskIndex task) {
  const std::vector<Constraint>* required = spec.requirementOf(task);
  return isFeasible(server, spec) && (required == nullptr || meets(server.record.facts, *required));
}

uint32_t unitsWithShare(const Server& server) {
  const ByteSupply supply = byteSupplyOf(server.record.facts);
  const uint64_t shares = timesFitting(supply.allocatable, server.status.allocated, supply.unitShare);
  return static_cast<uint32_t>(std::min<uint64_t>(server.status.free.size(), shares));
}

uint64_t slotsWhenEmpty(const Server& server, const JobSpec& spec) {
  return slots(server, spec, server.record.facts.rus, {});
}

uint64_t freeSlots(const Server& server, const JobSpec& spec) {
  return slots(server, spec, server.status.free.size(), server.status.allocated);
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
