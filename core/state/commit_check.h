// Whether a claim still holds on the newest state: the same functions that the agent judged with
// (docs/protocol.md).
#pragma once

#include "core/model/job.h"
#include "core/state/claim.h"

namespace tarcil {

// Judges one claim of the job against a server. kGranted where it is up, not cordoned, has enough free units
// and the countable things, memory and disk that each task of the job needs, and either has not changed since
// `claim.versionSeen` or still gives S >= floor (exactly compared) with every resident's slack kept. Does not
// look at the task. Pure; O(kResources).
Verdict checkClaim(const Claim& claim, const Judging& judging, const JobSpec& spec, const ServerFacts& facts,
                   const ServerStatus& status, const Share& share);

}  // namespace tarcil
