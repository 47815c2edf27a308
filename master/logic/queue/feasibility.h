// Which servers are feasible for a waiting job, whatever runs there.
#pragma once

#include "core/decide/options.h"
#include "core/model/job.h"
#include "core/state/claim.h"
#include "master/logic/servers/server_table.h"

namespace tarcil::master {

// Whether the server takes new tasks and meets the job's constraints; with `task`, what that one requires
// too.
bool isFeasible(const Server& server, const JobSpec& spec);
bool isFeasible(const Server& server, const JobSpec& spec, TaskIndex task);

// Free units whose share of memory and disk is left with them.
uint32_t unitsWithShare(const Server& server);

// For how many tasks of the job a feasible server has the units, were nothing there and as it is now; 0
// for others.
uint64_t slotsWhenEmpty(const Server& server, const JobSpec& spec);
uint64_t freeSlots(const Server& server, const JobSpec& spec);

// A claim of `rus` units of the server that names no version seen: it is always judged, against a floor of 0.
Claim freshClaim(const Server& server, uint32_t rus);

// Whether the server as it is now grants such a claim to a task of the job (core/state/commit_check.h). Where
// the master looks for slots itself, they are judged without the margin (core/decide/margin.h).
Verdict verdictOn(const JobSpec& spec, const QualitySettings& settings, const Server& server,
                  const Claim& claim);

}  // namespace tarcil::master
