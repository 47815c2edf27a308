#include "core/state/commit_check.h"

#include "core/state/neighbours.h"

namespace tarcil {

Verdict checkClaim(const Claim& claim, const Judging& judging, const JobSpec& spec, const ServerFacts& facts,
                   const ServerStatus& status, const Share& share) {
  if (!status.up) return Verdict::kServerDown;
  if (status.cordoned) return Verdict::kCordoned;

  // S and slack do not depend on the platform's factor, so any will do.
  const Newcomer task = newcomer(viewOn(spec.profile, share, 1.0), judging, claim.rus);
  Glance slot = glance(task, vacancyOf(status, facts.rus, share, judging.contention));
  if (slot.obstacle == Obstacle::kNotEnoughFree) return Verdict::kNotFree;
  if (!haveExtras(status.freeExtras, spec.extras)) return Verdict::kNoExtras;
  const ByteSupply supply = byteSupplyOf(facts);
  switch (shortage(supply.allocatable, status.allocated, claimed(spec.byteRequest(), claim.rus, supply))) {
    case ByteShortage::kMemory:
      return Verdict::kNoMemory;
    case ByteShortage::kDisk:
      return Verdict::kNoDisk;
    case ByteShortage::kNone:
      break;
  }
  if (status.version == claim.versionSeen) return Verdict::kGranted;
  if (task.byNeighbours) slot = withNeighbours(slot, task, neighboursOf(status, share));
  if (satisfaction(task, slot) < claim.floor) return Verdict::kBelowFloor;
  if (slot.obstacle == Obstacle::kNeighbour) return Verdict::kBreaksNeighbour;
  return Verdict::kGranted;
}

}  // namespace tarcil
