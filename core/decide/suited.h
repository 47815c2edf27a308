// Which servers a job's constraints leave (design 3.7).
#pragma once

#include <vector>

#include "core/model/job.h"
#include "core/state/cluster_state.h"
#include "core/state/server.h"

namespace tarcil {

// Whether the server meets all of the constraints; the same as meets() with constraintAttributes(facts), but
// without forming attributes that nobody asks for.
bool suits(const ServerFacts& facts, const std::vector<Constraint>& constraints);

// The job's highest platform factor among the servers that meet its constraints, up or not; 0 where none
// does. O(platforms) without constraints, at worst O(servers) with.
double bestPlatformFactor(const ClusterState& state, const JobSpec& spec);

// Slots that the servers which meet the job's constraints would have were they all up and empty. O(servers).
uint64_t slotsIn(const ClusterState& state, const JobSpec& spec);

}  // namespace tarcil
