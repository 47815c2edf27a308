#include "core/state/commit_check.h"

#include "core/state/slot.h"

namespace tarcil {

Verdict checkClaim(const Claim& claim, const Judging& judging, const Extras& needed, const ServerFacts& facts,
                   const ServerStatus& status, const Share& share) {
  if (!status.up) return Verdict::kServerDown;
  if (status.cordoned) return Verdict::kCordoned;
  if (status.free.size() < claim.rus) return Verdict::kNotFree;
  if (!haveExtras(status.freeExtras, needed)) return Verdict::kNoExtras;
  if (status.version == claim.versionSeen) return Verdict::kGranted;

  Profile profile;
  profile.caused = judging.caused;
  profile.tolerated = judging.tolerated;
  // S and slack do not depend on the platform's factor, so any will do.
  const SlotView slot = viewSlot(viewOn(profile, share, 1.0), judging, facts, status, share);
  if (slot.judgement.satisfaction < claim.floor) return Verdict::kBelowFloor;
  if (slot.broken >= 0) return Verdict::kBreaksNeighbour;
  return Verdict::kGranted;
}

}  // namespace tarcil
